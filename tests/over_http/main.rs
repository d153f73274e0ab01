//! The layer as clients meet it: a real axum server, a real HTTP client, both stores, and a clock that stands still.
#![cfg(all(feature = "redis", feature = "axum"))]

mod algorithms;
mod answers;
mod bad_input;
mod extractor;
mod failing;
mod fixture;
mod leaving;
mod placement;
mod plans;
mod problems;
mod queue;
mod settings;
mod stacked;
#[path = "../support/mod.rs"]
mod support;
mod tiers;
