//! `/keys/<limit>/<identity>`: shows or resets one key.

use axum::{
    extract::{Path, Query, State},
    http::StatusCode,
};
use serde::Deserialize;
use tollgate::{Charge, Decision, Key, Operation};

use super::{AdminState, error::AdminError};
use crate::{
    common::key_state::{KeyState, find_limit},
    server::response::PrettyJson,
};

/// The limit's name, and the identity as stored in Redis.
type KeyPath = Path<(String, String)>;

/// Shown for an unused key, which may be a misspelled one.
const UNUSED_HINT: &str = "this identity is unused; write it as stored in Redis, like ip:192.0.2.1 or x-user-id:alice";

#[derive(Deserialize)]
pub(super) struct KeyQuery {
    plan: Option<String>,
}

pub(super) async fn peek(
    State(state): State<AdminState>,
    Path((limit, identity)): KeyPath,
    Query(query): Query<KeyQuery>,
) -> Result<PrettyJson, AdminError> {
    let charge = state.charge(&limit, identity, &query)?;
    let decision = state.peek(charge).await?;
    let is_unused = KeyState::new(&decision).is_unused();
    Ok(key_json(&decision, is_unused))
}

pub(super) async fn reset(
    State(state): State<AdminState>,
    Path((limit, identity)): KeyPath,
    Query(query): Query<KeyQuery>,
) -> Result<PrettyJson, AdminError> {
    let charge = state.charge(&limit, identity.clone(), &query)?;
    let was_unused = KeyState::new(&state.peek(charge.clone()).await?).is_unused();
    let decision = state.apply(Operation::Reset(charge.into())).await?;
    if !was_unused {
        let key = Key::verbatim(identity).digest();
        tracing::info!(target: "tollgate::server", limit, key, "an operator reset a key");
    }
    Ok(key_json(&decision, was_unused))
}

impl AdminState {
    fn charge(&self, name: &str, identity: String, KeyQuery { plan }: &KeyQuery) -> Result<Charge, AdminError> {
        let limit = find_limit(&self.rules, name, plan.as_deref()).map_err(AdminError::not_found)?;
        Ok(Charge::new(limit, Key::verbatim(identity)))
    }

    /// Reads the state by a charge of 0, which changes nothing.
    async fn peek(&self, charge: Charge) -> Result<Decision, AdminError> {
        self.apply(Operation::Peek(charge.with_cost(0).into())).await
    }

    async fn apply(&self, operation: Operation) -> Result<Decision, AdminError> {
        let result = self.store.apply(operation).await;
        result.map_err(|error| AdminError::new(StatusCode::SERVICE_UNAVAILABLE, error))
    }
}

fn key_json(decision: &Decision, was_unused: bool) -> PrettyJson {
    let mut json = KeyState::new(decision).to_json();
    json["by_fallback"] = decision.is_by_fallback().into();
    if was_unused {
        json["hint"] = UNUSED_HINT.into();
    }
    PrettyJson(json)
}
