//! The Redis store, which many processes share: one Lua script runs atomically, on the clock of Redis.
//!
//! A request passes through seven parts, in a `batch`. Each part imports only from those below:
//!
//! - `batcher`: denies from the denial cache, queues requests while calls are in flight, and sends them in batches;
//! - `router`: finds the node that serves a request's slot, and follows redirects; the calls to a node;
//! - `protocol`: encodes calls, decodes replies and classifies errors, as the script in `lua/` and Redis define them;
//! - `leases`: decides from units of busy keys that this node has charged in advance;
//! - `holder`: knows and renews what this node holds of concurrency limits;
//! - `circuit_breaker`: fails calls to a node fast while it is down, and probes it;
//! - `connection`: makes, pools and replaces connections, directly or by sentinels.
//!
//! `builder` and `endpoint` contain the settings, `check` tests them at start-up, `health` and `error` report failures.

mod batch;
mod batcher;
mod builder;
mod check;
mod circuit_breaker;
mod connection;
mod denial_cache;
mod endpoint;
mod error;
mod health;
mod holder;
mod leases;
pub(crate) mod protocol;
mod router;
#[cfg(test)]
mod seeded_random;
mod store;

pub use self::{
    builder::RedisStoreBuilder,
    error::{RedisCause, StoreError},
    health::{Health, NodeHealth},
    store::{RedisDecision, RedisStore},
};
