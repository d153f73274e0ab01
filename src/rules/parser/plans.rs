//! `plan` and `plans`

use http::HeaderName;

use super::{
    super::{
        request_rule::{CostSpec, Plans},
        trust::Trust,
    },
    diagnostics::Reported,
    field::Field,
    settings::Settings,
    table::Table,
    trust,
};
use crate::{algorithm::AnyAlgorithm, limit::Limit};

/// The header that contains a request's plan, and the algorithm of each plan.
pub(super) struct PlanOverrides {
    header: HeaderName,
    algorithms: Vec<(String, AnyAlgorithm)>,
}

impl PlanOverrides {
    /// The plans of this limit.
    pub(super) fn of_limit(self, limit: &Limit) -> Plans {
        let limits = self
            .algorithms
            .into_iter()
            .map(|(plan, algorithm)| (plan, limit.with_algorithm(algorithm)));
        Plans {
            header: self.header,
            limits: limits.collect(),
        }
    }
}

pub(super) fn read(
    table: &mut Table<'_>,
    settings: Settings,
    limit: Option<&Limit>,
    cost: Option<&CostSpec>,
    trusted: Option<&Trust>,
) -> Result<Option<PlanOverrides>, Reported> {
    let (plan, plans) = (table.get("plan"), table.get("plans"));
    let header = plan.as_ref().map(|plan| {
        if plans.is_none() {
            plan.report("plan without plans: write some, like plans.pro = { limit = 1000 }");
        }
        trust::header(plan, "name a header, like header:x-plan", trusted)
    });
    let algorithms = plans.as_ref().map(|plans| {
        if plan.is_none() {
            plans.report("plans without plan: name the header that contains the plan, like plan = \"header:x-plan\"");
        }
        read_plans(plans, settings, limit, cost)
    });
    match (header, algorithms) {
        (Some(header), Some(algorithms)) => Ok(Some(PlanOverrides {
            header: header?,
            algorithms: algorithms?,
        })),
        _ => Ok(None),
    }
}

fn read_plans(
    plans: &Field<'_>,
    settings: Settings,
    limit: Option<&Limit>,
    cost: Option<&CostSpec>,
) -> Result<Vec<(String, AnyAlgorithm)>, Reported> {
    let table = Table::of(plans, plans.table.clone(), "plans.pro = { limit = 1000 }")?;
    if table.is_empty() {
        return Err(plans.must("have at least one plan, like plans.pro = { limit = 1000 }"));
    }
    let algorithms: Vec<_> = table
        .fields("plans")
        .map(|(name, plan)| Ok((name.to_owned(), read_plan(&plan, settings, limit, cost)?)))
        .collect();
    algorithms.into_iter().collect()
}

/// Reads the overrides of one plan. Other settings are those of the limit.
fn read_plan(
    plan: &Field<'_>,
    settings: Settings,
    limit: Option<&Limit>,
    cost: Option<&CostSpec>,
) -> Result<AnyAlgorithm, Reported> {
    let label = format!("{}, {}", plan.table, plan.name);
    let mut table = Table::of(plan, label, "{ limit = 1000 }")?;
    let algorithm = settings.overridden_by(&mut table).build(&table);
    if table.is_empty() {
        return Err(table.report("it changes nothing: give it a limit or a capacity"));
    }
    // With a lease, the capacity is smaller.
    let capacity = |algorithm: &AnyAlgorithm| match limit {
        Some(limit) => limit.with_algorithm(*algorithm).algorithm().capacity(),
        None => algorithm.capacity(),
    };
    if let (Ok(capacity), Some(CostSpec::Fixed(cost))) = (algorithm.as_ref().map(capacity), cost)
        && *cost > capacity
    {
        table.report(format_args!(
            "it would deny every request: its capacity is {capacity}, and a request costs {cost}"
        ));
    }
    table.finish();
    algorithm
}
