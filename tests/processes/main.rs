//! Several processes on one Redis, which count and queue as one.
#![cfg(feature = "redis")]

mod admitted;
mod departures;
#[path = "../support/mod.rs"]
mod support;
