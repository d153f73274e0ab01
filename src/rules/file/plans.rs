//! `plan` and `plans`

use http::HeaderName;

use super::{
    super::{
        tier::{CostOf, Plans},
        trust::Trust,
    },
    field::Field,
    problems::Reported,
    settings::Settings,
    table::Table,
    trust,
};
use crate::{algorithm::Rule, limit::Limit};

/// Where a request's plan is, and what each plan makes of a limit.
pub(super) struct ByPlan {
    header: HeaderName,
    rules: Vec<(String, Rule)>,
}

impl ByPlan {
    /// The versions of the limit of this name.
    pub(super) fn of(self, name: &str) -> Plans {
        let versions = self
            .rules
            .into_iter()
            .map(|(plan, rule)| (plan, Limit::new(name, rule)));
        Plans {
            header: self.header,
            limits: versions.collect(),
        }
    }
}

pub(super) fn read(
    table: &mut Table<'_>,
    settings: Settings,
    cost: Option<&CostOf>,
    trusted: Option<&Trust>,
) -> Result<Option<ByPlan>, Reported> {
    let (plan, plans) = (table.get("plan"), table.get("plans"));
    let header = plan.as_ref().map(|plan| {
        if plans.is_none() {
            plan.is("plan without plans: write some, like plans.pro = { limit = 1000 }");
        }
        trust::header(plan, "name a header, like header:x-plan", trusted)
    });
    let rules = plans.as_ref().map(|plans| {
        if plan.is_none() {
            plans.is("plans without plan: say where a request's plan is, like plan = \"header:x-plan\"");
        }
        rules(plans, settings, cost)
    });
    match (header, rules) {
        (Some(header), Some(rules)) => Ok(Some(ByPlan {
            header: header?,
            rules: rules?,
        })),
        _ => Ok(None),
    }
}

fn rules(plans: &Field<'_>, settings: Settings, cost: Option<&CostOf>) -> Result<Vec<(String, Rule)>, Reported> {
    let table = Table::of(plans, plans.table.clone(), "plans.pro = { limit = 1000 }")?;
    if table.is_empty() {
        return Err(plans.must("have one at least, like plans.pro = { limit = 1000 }"));
    }
    let rules: Vec<_> = table
        .each("plans")
        .map(|(name, plan)| Ok((name.to_owned(), rule(&plan, settings, cost)?)))
        .collect();
    rules.into_iter().collect()
}

/// The limit as those on one plan have it.
fn rule(plan: &Field<'_>, settings: Settings, cost: Option<&CostOf>) -> Result<Rule, Reported> {
    let called = format!("{}, {}", plan.table, plan.name);
    let mut table = Table::of(plan, called, "{ limit = 1000 }")?;
    let rule = settings.of_plan(&mut table).rule(&table);
    if table.is_empty() {
        return Err(table.lacks("it changes nothing: give it a limit or a capacity"));
    }
    if let (Ok(rule), Some(CostOf::Each(cost))) = (&rule, cost)
        && *cost > rule.capacity()
    {
        let holds = rule.capacity();
        table.lacks(format_args!(
            "nobody on it could ever pass: it holds {holds}, and a request costs {cost}"
        ));
    }
    table.finish();
    rule
}
