//! `/limits`: the rules in force, in the words of their file.

use axum::{extract::State, http::StatusCode};
use serde_json::Value;

use super::{
    answer::{Refusal, Shown},
    state::Admin,
};

pub(super) async fn show(State(admin): State<Admin>) -> Result<Shown, Refusal> {
    let rules: Result<Value, _> = toml::from_str(&admin.rules.text());
    // What has been taken can be read.
    rules
        .map(Shown)
        .map_err(|error| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
}
