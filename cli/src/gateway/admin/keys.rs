//! `/keys/<limit>/<identity>`: how one key stands, and its quota back.

use axum::{
    extract::{Path, Query, State},
    http::StatusCode,
};
use serde::Deserialize;
use serde_json::json;
use tollgate::{Charge, Decision, Key, Limit, Operation};

use super::{
    answer::{Refusal, Shown},
    state::Admin,
};

/// Whose limit: the limit's name, and the identity as stored keys have it.
type Whose = Path<(String, String)>;

/// For whoever looks for a key by another name than it has.
const HINT: &str = "nothing is used by this identity: is it written as Redis has it, like ip:192.0.2.1 or \
                      x-user-id:alice?";

#[derive(Deserialize)]
pub(super) struct Terms {
    plan: Option<String>,
}

pub(super) async fn show(
    State(admin): State<Admin>,
    Path((limit, identity)): Whose,
    Query(terms): Query<Terms>,
) -> Result<Shown, Refusal> {
    let charge = admin.charge(&limit, identity, &terms)?;
    let state = admin.look(charge).await?;
    Ok(shown(&state, is_unused(&state)))
}

pub(super) async fn forgive(
    State(admin): State<Admin>,
    Path((limit, identity)): Whose,
    Query(terms): Query<Terms>,
) -> Result<Shown, Refusal> {
    let charge = admin.charge(&limit, identity.clone(), &terms)?;
    let was_unused = is_unused(&admin.look(charge.clone()).await?);
    let state = admin.apply(Operation::Reset(charge.into())).await?;
    if !was_unused {
        let key = Key::verbatim(identity).digest();
        tracing::info!(limit, key, "a key has its quota back");
    }
    Ok(shown(&state, was_unused))
}

impl Admin {
    fn charge(&self, name: &str, identity: String, terms: &Terms) -> Result<Charge, Refusal> {
        Ok(Charge::new(self.limit(name, terms)?, Key::verbatim(identity)))
    }

    fn limit(&self, name: &str, Terms { plan }: &Terms) -> Result<Limit, Refusal> {
        let limits = self.rules.limits();
        if !limits.iter().any(|limit| limit.name() == name) {
            let names: Vec<_> = limits.iter().map(Limit::name).collect();
            let names = names.join(", ");
            return Err(Refusal::not_found(format!(
                "there is no limit {name:?}: there are {names}"
            )));
        }
        let limit = self.rules.limit(name, plan.as_deref());
        limit.ok_or_else(|| {
            let plan = plan.as_deref().unwrap_or_default();
            Refusal::not_found(format!("the limit {name:?} has no plan {plan:?}"))
        })
    }

    /// It costs nothing, and changes nothing.
    async fn look(&self, charge: Charge) -> Result<Decision, Refusal> {
        self.apply(Operation::Acquire(charge.cost(0).into())).await
    }

    async fn apply(&self, operation: Operation) -> Result<Decision, Refusal> {
        let applied = self.counting.apply(operation).await;
        applied.map_err(|error| Refusal::new(StatusCode::SERVICE_UNAVAILABLE, error))
    }
}

fn is_unused(state: &Decision) -> bool {
    state.tiers()[0].verdict().reset_after().is_zero()
}

fn shown(state: &Decision, was_unused: bool) -> Shown {
    let tier = &state.tiers()[0];
    let (limit, verdict) = (tier.limit(), tier.verdict());
    let mut shown = json!({
        "limit": limit.name(),
        "identity": tier.key().as_str(),
        "algorithm": limit.rule().name(),
        "quota": limit.rule().quota().to_string(),
        "remaining": verdict.remaining(),
        "full_in_us": u64::try_from(verdict.reset_after().as_micros()).unwrap_or(u64::MAX),
        "by_fallback": state.is_by_fallback(),
    });
    if was_unused {
        shown["hint"] = HINT.into();
    }
    Shown(shown)
}
