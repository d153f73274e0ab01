//! The fields of `[[limit]]` for HTTP requests

use toml::de::DeValue;

use super::{
    super::{
        request_rule::{CostSpec, RequestRule},
        trust::Trust,
    },
    diagnostics::Reported,
    field::Field,
    key, outcome, plans, scope,
    settings::Settings,
    table::Table,
    trust,
};
use crate::{algorithm::AnyAlgorithm, limit::Limit};

pub(super) fn read(
    table: &mut Table<'_>,
    limit: Result<Limit, Reported>,
    algorithm: Result<AnyAlgorithm, Reported>,
    settings: Settings,
    shadow: Result<bool, Reported>,
    trusted: Option<&Trust>,
) -> Result<RequestRule, Reported> {
    let scope = scope::read(table);
    let path = scope.as_ref().ok().and_then(|scope| scope.path.as_ref());
    let key = key::read(table, path);
    let cost = table.read("cost", |field| cost(field, algorithm, limit.as_ref().ok(), trusted));
    let cost = cost.map(|cost| cost.unwrap_or(CostSpec::Fixed(1)));
    let plans = plans::read(table, settings, limit.as_ref().ok(), cost.as_ref().ok(), trusted);
    let outcome = outcome::read(table, algorithm);
    let limit = limit?;
    Ok(RequestRule {
        scope: scope?,
        key: key?,
        plans: plans?.map(|plans| plans.of_limit(&limit)),
        limit,
        cost: cost?,
        outcome: outcome?,
        shadow: shadow?,
    })
}

fn cost(
    field: &Field<'_>,
    algorithm: Result<AnyAlgorithm, Reported>,
    limit: Option<&Limit>,
    trusted: Option<&Trust>,
) -> Result<CostSpec, Reported> {
    let must = "be a number without quotes, or name a header, like \"header:x-cost\"";
    match field.value.get_ref() {
        DeValue::String(_) => return trust::header(field, must, trusted).map(CostSpec::Header),
        DeValue::Integer(_) => {}
        _ => return Err(field.must(must)),
    }
    let cost = field.count()?;
    // With a lease, the capacity is smaller.
    let (capacity, of) = match (limit, algorithm) {
        (Some(limit), _) if limit.lease_time().is_some() => (limit.algorithm().capacity(), "the limit with its lease"),
        (_, Ok(algorithm)) => (algorithm.capacity(), "the limit"),
        (_, Err(_)) => return Ok(CostSpec::Fixed(cost)),
    };
    match cost > capacity {
        true => Err(field.must(format_args!("be at most {capacity}, the capacity of {of}"))),
        false => Ok(CostSpec::Fixed(cost)),
    }
}
