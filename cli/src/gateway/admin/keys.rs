//! `/keys/<limit>/<identity>`: how one key stands, and its quota back.

use axum::{
    extract::{Path, Query, State},
    http::StatusCode,
};
use serde::Deserialize;
use tollgate::{Charge, Decision, Key, Operation};

use super::{
    answer::{Refusal, Shown},
    state::Admin,
};
use crate::common::key_state::{KeyState, find_limit};

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
    let is_unused = KeyState::of(&state).is_unused();
    Ok(shown(&state, is_unused))
}

pub(super) async fn forgive(
    State(admin): State<Admin>,
    Path((limit, identity)): Whose,
    Query(terms): Query<Terms>,
) -> Result<Shown, Refusal> {
    let charge = admin.charge(&limit, identity.clone(), &terms)?;
    let was_unused = KeyState::of(&admin.look(charge.clone()).await?).is_unused();
    let state = admin.apply(Operation::Reset(charge.into())).await?;
    if !was_unused {
        let key = Key::verbatim(identity).digest();
        tracing::info!(limit, key, "a key has its quota back");
    }
    Ok(shown(&state, was_unused))
}

impl Admin {
    fn charge(&self, name: &str, identity: String, Terms { plan }: &Terms) -> Result<Charge, Refusal> {
        let limit = find_limit(&self.rules, name, plan.as_deref()).map_err(Refusal::not_found)?;
        Ok(Charge::new(limit, Key::verbatim(identity)))
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

fn shown(state: &Decision, was_unused: bool) -> Shown {
    let mut shown = KeyState::of(state).to_json();
    shown["by_fallback"] = state.is_by_fallback().into();
    if was_unused {
        shown["hint"] = HINT.into();
    }
    Shown(shown)
}
