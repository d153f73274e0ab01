//! What is measured: exactly what has happened, under the names that docs/observability.md lists, and nothing else.
#![cfg(feature = "redis")]

mod breaker;
mod decisions;
mod documented;
mod recorded;
mod redis;
#[path = "../support/mod.rs"]
mod support;
mod waits;
