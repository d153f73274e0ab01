//! Exact rate limits for [tower] services, in memory on one node or shared through Redis by many.
//!
//! A limit is data, and a decision is a pure function of (limit, state, time, cost). Around that there are stores,
//! which keep state and decide in one atomic step: [`MemoryStore`] calls the functions of [`algorithm`], and
//! [`RedisStore`] runs a Lua program that does the same arithmetic. Both answer alike, to the microsecond.
//!
//! ```
//! use tollgate::{Charge, Charges, Key, Limit, MemoryStore, Operation, Quota, SlidingCounter, Store, TokenBucket};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! let store = MemoryStore::new(); // or RedisStore::connect("redis://127.0.0.1:6379")?
//! let everyone = Limit::new("global", SlidingCounter::new(Quota::per_minute(10_000)));
//! let user = Limit::new("user", TokenBucket::new(Quota::per_minute(100)).capacity(20));
//!
//! // A request's charges are taken all or none.
//! let mut charges = Charges::new();
//! charges.push(Charge::new(everyone, Key::GLOBAL))?;
//! charges.push(Charge::new(user, Key::new("user:12345")))?;
//!
//! let decision = store.apply(Operation::Acquire(charges)).await?;
//! assert!(decision.admits());
//! assert_eq!(decision.tiers()[1].verdict().remaining(), 19);
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! | feature | on by default | brings |
//! | --- | --- | --- |
//! | `redis` | yes | `RedisStore` |
//! | `axum` | yes | what needs axum itself |
//! | `tls` | no | `rediss://` addresses, by rustls |
//!
//! Without any of them there is the memory store.
//!
//! [tower]: https://docs.rs/tower
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(feature = "redis"), allow(rustdoc::broken_intra_doc_links))]

pub mod algorithm;
mod charge;
mod clock;
mod decision;
pub mod extract;
mod identity;
mod invalid;
mod key;
mod layer;
mod limit;
mod operation;
pub mod policy;
mod quota;
mod receipt;
mod respond;
mod service;
mod store;
mod time;
mod verdict;

#[cfg(feature = "axum")]
pub use self::extract::Route;
#[cfg(feature = "redis")]
pub use self::store::{RedisStore, RedisStoreBuilder, StoreError};
pub use self::{
    algorithm::{Algorithm, FixedWindow, LeakyBucket, Rule, SlidingCounter, SlidingLog, State, TokenBucket},
    charge::{Charge, Charges, DuplicateKey},
    clock::{Clock, ManualClock, Sleep},
    decision::{Decision, Tier},
    extract::{ApiKey, ClientIp, FromExtension, Global, Header, HttpMethod, KeyError, KeyExtractor},
    invalid::Invalid,
    key::Key,
    layer::RateLimitLayer,
    limit::Limit,
    operation::Operation,
    quota::{Cost, Quota},
    receipt::Receipt,
    respond::{AnswerBody, AsError, HttpAnswers, Rejection, ResetUnit, Respond},
    service::{RateLimit, ResponseFuture},
    store::{MemoryStore, MemoryStoreBuilder, Store},
    time::{END_OF_TIME, Micros},
    verdict::{Outcome, Verdict},
};
/// redis-rs, in the version whose types [`RedisStoreBuilder::connection_info`] takes.
#[cfg(feature = "redis")]
pub use deadpool_redis::redis;

/// The README's examples run too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
