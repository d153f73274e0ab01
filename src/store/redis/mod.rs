//! The store that many processes share: one Lua program, run atomically, on Redis's own clock.
//!
//! A request becomes a decision by way of three floors, each of which knows only those below:
//!
//! - `requests`: who waits, who leaves together, for whom, and what is done when that fails;
//! - `servers`: the connections to one Redis, to the primary that sentinels name, or to the nodes of a cluster;
//! - `wire`: what is said to Redis and what it says, by the program in `lua/`.
//!
//! `builder` and `address` read the settings, `check` tries them at start-up, `health` and `error` tell what is wrong.

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
