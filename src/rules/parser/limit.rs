//! `[[limit]]`

use std::{collections::HashMap, time::Duration};

use toml::de::DeValue;

use super::{
    super::{
        rule::{CostSpec, Rule},
        trust::Trust,
    },
    diagnostics::Reported,
    field::Field,
    key, outcome, plans, scope,
    settings::Settings,
    table::Table,
    trust,
};
use crate::{
    algorithm::AnyAlgorithm,
    limit::{self, Limit},
    quota::QuotaUnit,
    time::micros,
};

/// The names of limits, with the byte offsets of their definitions.
type Names<'f> = HashMap<&'f str, usize>;

pub(super) fn read_all(document: &mut Table<'_>, trusted: Option<&Trust>) -> Result<Vec<Rule>, Reported> {
    let tables = document.tables("limit")?;
    if tables.is_empty() {
        return Err(document.report("no limit is defined: define each under [[limit]]"));
    }
    let mut names = Names::new();
    let read = |table| read(table, trusted, &mut names);
    let all: Vec<_> = tables.into_iter().map(read).collect();
    all.into_iter().collect()
}

fn read<'f>(mut table: Table<'f>, trusted: Option<&Trust>, names: &mut Names<'f>) -> Result<Rule, Reported> {
    let name = name(&mut table, names);
    let settings = Settings::read(&mut table);
    let algorithm = settings.build(&table);
    let scope = scope::read(&mut table);
    let path = scope.as_ref().ok().and_then(|scope| scope.path.as_ref());
    let key = key::read(&mut table, path);
    let cost = table.read("cost", |field| cost(field, algorithm, trusted));
    let cost = cost.map(|cost| cost.unwrap_or(CostSpec::Fixed(1)));
    let plans = plans::read(&mut table, settings, cost.as_ref().ok(), trusted);
    let unit = table.read("unit", |field| {
        QuotaUnit::try_new(field.text()?.to_owned()).map_err(|error| field.invalid(&error))
    });
    let outcome = outcome::read(&mut table, algorithm);
    let lease = table.read("lease", |field| lease(field, algorithm));
    let shadow = table.read("shadow", Field::flag);
    table.finish();

    let (limit, lease, unit) = (Limit::new(name?, algorithm?), lease?, unit?);
    let limit = lease.map_or(limit.clone(), |lease| limit.lease(lease));
    unit.into_iter().for_each(|unit| limit.set_unit(unit));
    Ok(Rule {
        scope: scope?,
        key: key?,
        plans: plans?.map(|plans| plans.of_limit(&limit)),
        limit,
        cost: cost?,
        outcome: outcome?,
        shadow: shadow?.unwrap_or(false),
    })
}

/// Reads the unique name of a limit. Later diagnostics are labelled with it.
fn name<'f>(table: &mut Table<'f>, names: &mut Names<'f>) -> Result<&'f str, Reported> {
    let field = table.require("name", "name = \"user\"")?;
    let name = field.text()?;
    limit::check_name(name).map_err(|error| field.invalid(&error))?;
    table.label = format!("limit {name:?}");
    match names.insert(name, field.offset()) {
        Some(other) => {
            let line = field.line_of(other);
            Err(field.must(format_args!("be unique: line {line} has the same name")))
        }
        None => Ok(name),
    }
}

/// Reads the lease time. Reports one that would have no effect.
fn lease(field: &Field<'_>, algorithm: Result<AnyAlgorithm, Reported>) -> Result<Duration, Reported> {
    let time = field.duration()?;
    limit::check_lease(time).map_err(|error| field.invalid(&error))?;
    match algorithm {
        Ok(algorithm) if algorithm.is_queueing() => {
            Err(field.report("lease has no effect on a leaky_bucket that queues: remove it, or set queue = false"))
        }
        Ok(algorithm) if algorithm.is_concurrency() => {
            Err(field.report("lease has no effect on a concurrency limit: remove it"))
        }
        Ok(algorithm) if algorithm.leased(micros(time)).is_none() => Err(field.must(match algorithm {
            AnyAlgorithm::SlidingLog(_) => "be shorter: window and lease together are 3650d at most",
            _ => "be shorter: the bucket would have no capacity left for what refills in that time",
        })),
        _ => Ok(time),
    }
}

fn cost(
    field: &Field<'_>,
    algorithm: Result<AnyAlgorithm, Reported>,
    trusted: Option<&Trust>,
) -> Result<CostSpec, Reported> {
    let must = "be a number without quotes, or name a header, like \"header:x-cost\"";
    match field.value.get_ref() {
        DeValue::String(_) => return trust::header(field, must, trusted).map(CostSpec::Header),
        DeValue::Integer(_) => {}
        _ => return Err(field.must(must)),
    }
    match (field.count()?, algorithm) {
        (cost, Ok(algorithm)) if cost > algorithm.capacity() => {
            let max = algorithm.capacity();
            Err(field.must(format_args!("be at most {max}, the capacity of the limit")))
        }
        (cost, _) => Ok(CostSpec::Fixed(cost)),
    }
}
