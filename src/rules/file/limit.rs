//! `[[limit]]`

use std::collections::HashMap;

use toml::de::DeValue;

use super::{
    super::{
        tier::{CostOf, Tier},
        trust::Trust,
    },
    field::Field,
    key, plans,
    problems::Reported,
    scope,
    settings::Settings,
    table::Table,
    trust,
};
use crate::{
    algorithm::Rule,
    limit::{self, Limit},
};

/// The names that have been taken, and the bytes they begin at.
type Names<'f> = HashMap<&'f str, usize>;

pub(super) fn read_all(document: &mut Table<'_>, trusted: Option<&Trust>) -> Result<Vec<Tier>, Reported> {
    let tables = document.tables("limit")?;
    if tables.is_empty() {
        return Err(document.lacks("there is no limit: write each of them under [[limit]]"));
    }
    let mut names = Names::new();
    let read = |table| read(table, trusted, &mut names);
    let all: Vec<_> = tables.into_iter().map(read).collect();
    all.into_iter().collect()
}

fn read<'f>(mut table: Table<'f>, trusted: Option<&Trust>, names: &mut Names<'f>) -> Result<Tier, Reported> {
    let name = name(&mut table, names);
    let settings = Settings::read(&mut table);
    let rule = settings.rule(&table);
    let scope = scope::read(&mut table);
    let path = scope.as_ref().ok().and_then(|scope| scope.path.as_ref());
    let identity = key::read(&mut table, path);
    let cost = table.read("cost", |field| cost(field, rule, trusted));
    let cost = cost.map(|cost| cost.unwrap_or(CostOf::Each(1)));
    let plans = plans::read(&mut table, settings, cost.as_ref().ok(), trusted);
    let shadow = table.read("shadow", Field::flag);
    table.finish();

    let name = name?;
    Ok(Tier {
        limit: Limit::new(name, rule?),
        scope: scope?,
        identity: identity?,
        plans: plans?.map(|plans| plans.of(name)),
        cost: cost?,
        shadow: shadow?.unwrap_or(false),
    })
}

/// The name of a limit, which no other has. From here on, messages call the limit by it.
fn name<'f>(table: &mut Table<'f>, names: &mut Names<'f>) -> Result<&'f str, Reported> {
    let field = table.require("name", "name = \"user\"")?;
    let name = field.text()?;
    limit::check_name(name).map_err(|invalid| field.invalid(&invalid))?;
    table.called = format!("limit {name:?}");
    match names.insert(name, field.at()) {
        Some(other) => {
            let line = field.line_of(other);
            Err(field.must(format_args!("differ from the other names, and line {line} has it too")))
        }
        None => Ok(name),
    }
}

fn cost(field: &Field<'_>, rule: Result<Rule, Reported>, trusted: Option<&Trust>) -> Result<CostOf, Reported> {
    let must = "be a number without quotes, or name a header, like \"header:x-cost\"";
    match field.value.get_ref() {
        DeValue::String(_) => return trust::header(field, must, trusted).map(CostOf::Header),
        DeValue::Integer(_) => {}
        _ => return Err(field.must(must)),
    }
    match (field.count()?, rule) {
        (cost, Ok(rule)) if cost > rule.capacity() => {
            let most = rule.capacity();
            Err(field.must(format_args!("be at most {most}, which is all that the limit holds")))
        }
        (cost, _) => Ok(CostOf::Each(cost)),
    }
}
