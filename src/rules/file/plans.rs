//! `plan` and `plans`

use super::{
    super::{
        tier::{CostOf, Plans},
        trust::Trust,
    },
    Field, Reported, Table,
    settings::Settings,
    trust,
};
use crate::limit::Limit;

/// Other versions of a limit, if there are any.
pub(super) fn read(
    table: &mut Table<'_>,
    limit: Result<&str, Reported>,
    algorithm: Result<&'static str, Reported>,
    settings: Result<Settings, Reported>,
    cost: Option<&CostOf>,
    trusted: Option<&Trust>,
) -> Result<Option<Plans>, Reported> {
    let (plan, plans) = match (table.get("plan"), table.get("plans")) {
        (None, None) => return Ok(None),
        (Some(plan), Some(plans)) => (plan, plans),
        (Some(plan), None) => return Err(plan.is("plan without plans: write some, like plans.pro = { limit = 1000 }")),
        (None, Some(plans)) => {
            return Err(plans.is("plans without plan: say where a request's plan is, like plan = \"header:x-plan\""));
        }
    };
    let header = trust::header(&plan, "name a header, like header:x-plan", trusted);
    let at = Table::of(&plans, table.called.clone(), "plans.pro = { limit = 1000 }")?;
    if at.is_empty() {
        return Err(plans.must("have one at least, like plans.pro = { limit = 1000 }"));
    }
    let versions: Vec<_> = at
        .each("plans")
        .map(|(name, plan)| Ok((name.to_owned(), version(&plan, limit, algorithm, settings, cost)?)))
        .collect();
    let limits = versions.into_iter().collect::<Result<_, _>>();
    Ok(Some(Plans {
        header: header?,
        limits: limits?,
    }))
}

/// The limit as those on one plan have it.
fn version(
    plan: &Field<'_>,
    limit: Result<&str, Reported>,
    algorithm: Result<&'static str, Reported>,
    settings: Result<Settings, Reported>,
    cost: Option<&CostOf>,
) -> Result<Limit, Reported> {
    let called = format!("{}, {}", plan.table, plan.name);
    let mut table = Table::of(plan, called, "{ limit = 1000 }")?;
    let settings = Settings::of_plan(&mut table, algorithm, settings);
    let version = settings.and_then(|settings| {
        let version = settings
            .rule()
            .and_then(|rule| Limit::try_new(limit.unwrap_or("unnamed"), rule));
        version.map_err(|invalid| table.invalid(&invalid))
    });
    if table.is_empty() {
        return Err(table.lacks("it changes nothing: give it a limit or a capacity"));
    }
    if let (Ok(version), Some(CostOf::Each(cost))) = (&version, cost)
        && *cost > version.rule().capacity()
    {
        let holds = version.rule().capacity();
        table.lacks(format_args!(
            "nobody on it could ever pass: it holds {holds}, and a request costs {cost}"
        ));
    }
    table.finish();
    version
}
