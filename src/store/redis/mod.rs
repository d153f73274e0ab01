//! The Redis store, which many processes share: one Lua script runs atomically, on the clock of Redis.
//!
//! It has three layers, each of which imports only from those below:
//!
//! - `requests`: queueing, batching, routing and cancellation of requests, and their error handling;
//! - `servers`: connections to a standalone Redis, to the primary that sentinels report, or to the nodes of a cluster;
//! - `wire`: encoding of calls and decoding of replies, as the script in `lua/` defines them.
//!
//! `builder` and `address` contain the settings, `check` tests them at start-up, `health` and `error` report failures.

mod address;
mod builder;
mod check;
mod error;
mod health;
mod requests;
mod servers;
mod store;
pub(crate) mod wire;

pub use self::{
    builder::RedisStoreBuilder,
    error::StoreError,
    health::{Health, ServerHealth},
    requests::RedisDecision,
    store::RedisStore,
};
