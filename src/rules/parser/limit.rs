//! `[[limit]]`

use std::{collections::HashMap, time::Duration};

use super::{
    super::{
        descriptor_pattern::DescriptorPattern,
        rule::{DescriptorRule, Rule},
        trust::Trust,
    },
    descriptor,
    diagnostics::Reported,
    field::Field,
    request_rule,
    settings::Settings,
    table::Table,
};
use crate::{
    algorithm::AnyAlgorithm,
    limit::{self, Limit},
    quota::QuotaUnit,
    time::micros,
};

/// The fields that a limit with a descriptor does not have.
const REQUEST_FIELDS: [&str; 10] = [
    "path",
    "methods",
    "key",
    "default",
    "optional",
    "cost",
    "plan",
    "plans",
    "refund_status",
    "settle_json",
];

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
    let unit = table.read("unit", |field| {
        QuotaUnit::try_new(field.text()?.to_owned()).map_err(|error| field.invalid(&error))
    });
    let lease = table.read("lease", |field| lease(field, algorithm));
    let limit = limit(name, algorithm, unit, lease);
    let shadow = table.read("shadow", Field::flag).map(|shadow| shadow.unwrap_or(false));
    let rule = match descriptor::read(&mut table, &REQUEST_FIELDS).transpose() {
        Some(pattern) => descriptor_rule(&table, limit, algorithm, pattern, shadow).map(Rule::Descriptor),
        None => request_rule::read(&mut table, limit, algorithm, settings, shadow, trusted)
            .map(|rule| Rule::Request(rule.into())),
    };
    table.finish();
    rule
}

fn limit(
    name: Result<&str, Reported>,
    algorithm: Result<AnyAlgorithm, Reported>,
    unit: Result<Option<QuotaUnit>, Reported>,
    lease: Result<Option<Duration>, Reported>,
) -> Result<Limit, Reported> {
    let (limit, unit, lease) = (Limit::new(name?, algorithm?), unit?, lease?);
    let limit = lease.map_or(limit.clone(), |lease| limit.lease(lease));
    unit.into_iter().for_each(|unit| limit.set_unit(unit));
    Ok(limit)
}

/// Builds the rule of a limit with a descriptor. Reports an algorithm that needs the request itself.
fn descriptor_rule(
    table: &Table<'_>,
    limit: Result<Limit, Reported>,
    algorithm: Result<AnyAlgorithm, Reported>,
    pattern: Result<DescriptorPattern, Reported>,
    shadow: Result<bool, Reported>,
) -> Result<DescriptorRule, Reported> {
    if let (Ok(algorithm), Some(field)) = (algorithm, table.find("algorithm")) {
        if algorithm.is_queueing() {
            return Err(field.report("a leaky_bucket with a descriptor cannot delay requests: add queue = false"));
        }
        if algorithm.is_concurrency() {
            return Err(field
                .report("a concurrency limit cannot have a descriptor: a proxy does not report when a request ends"));
        }
    }
    Ok(DescriptorRule {
        limit: limit?,
        pattern: pattern?,
        shadow: shadow?,
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
