//! Exact rate limits for [tower] services, in memory on one node or shared through Redis by many.
//!
//! ```
//! use axum::{Router, routing::get};
//! use tollgate::{ClientIp, Global, Header, MemoryStore, Quota, RateLimitLayer, TokenBucket};
//!
//! let store = MemoryStore::new(); // or RedisStore::connect("redis://127.0.0.1:6379")?
//! let user = Header::new("x-user-id").or(ClientIp::peer());
//!
//! let app: Router = Router::new()
//!     .route("/api/expensive", get(async || "done").layer(
//!         RateLimitLayer::sliding_log("expensive", Quota::per_minute(10), user.clone(), store.clone())))
//!     .route("/api/hello", get(async || "hello"))
//!     .layer(RateLimitLayer::sliding_counter("global", Quota::per_minute(10_000), Global, store)
//!         .tier("user", TokenBucket::new(Quota::per_minute(100)), user));
//! # let _ = app;
//! ```
//!
//! - [`RateLimitLayer`] is what you write: an algorithm, a quota, whom to count, and a store.
//! - [`algorithm`] has the five algorithms; [`extract`] names whom a request is counted for.
//! - [`HttpAnswers`] says what clients are told, over gRPC too; [`AsError`] is for services that are not HTTP.
//! - [`MemoryStore`] counts in this process, [`RedisStore`] for every process that shares a Redis.
//! - [`Limiter`] is for calls that you make yourself: messages, jobs, admin pages.
//!
//! # Guide
//!
//! [The guide](guide) tells it from the beginning, with examples that run:
//!
//! - [Quick start](guide::quick_start), [choosing a limit](guide::choosing), and [several limits on one request](guide::tiers).
//! - [Whose address it is, behind proxies](guide::behind_proxies).
//! - [When Redis fails](guide::when_redis_fails), and [when there is more than one](guide::sentinels_and_clusters).
//! - [Testing your service](guide::testing) on a clock that you move.
//! - [Migrating from tower_governor](guide::migrating).
//!
//! # How it works
//!
//! A limit is data, and a decision is a pure function of (limit, state, time, cost). Everything else is plumbing:
//!
//! ```text
//! request --extract--> charges --store--> decision --respond--> 429, or the inner service and headers
//!                                 ^                                           |
//!                                 +--------- settle, by the response ---------+
//! ```
//!
//! A [store](Store) keeps state and decides in one atomic step: the memory store calls the functions of [`algorithm`],
//! and the Redis store runs a Lua program that does the same arithmetic. Both answer alike, to the microsecond. It can be
//! asked without any middleware, too:
//!
//! ```
//! use tollgate::{Charge, Charges, Key, Limit, MemoryStore, Operation, Quota, SlidingCounter, Store, TokenBucket};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! let store = MemoryStore::new();
//! let everyone = Limit::new("global", SlidingCounter::new(Quota::per_minute(10_000)));
//! let user = Limit::new("user", TokenBucket::new(Quota::per_minute(100)).capacity(20));
//!
//! // A request's charges are taken all or none.
//! let mut charges = Charges::new();
//! charges.push(Charge::new(everyone, Key::GLOBAL))?;
//! charges.push(Charge::new(user, Key::named("user", 12345)))?;
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
//! | feature | on by default | brings | needs |
//! | --- | --- | --- | --- |
//! | `redis` | yes | [`RedisStore`] | Redis 6.2 or later, or Valkey |
//! | `axum` | yes | [`Route`], the peer's address from axum, and [`Decision`] as an extractor | axum 0.8 |
//! | `tls` | no | `rediss://` addresses, by rustls | brings `redis` with it |
//! | `rules` | no | [`RuleSet`]: limits from a [rules file] that is read again when it changes | a file, or its text from elsewhere |
//! | `metrics` | no | [figures for operators](guide::observability), by the [metrics] facade | a recorder, like metrics-exporter-prometheus |
//!
//! Without any of them there are the memory store and the layer around any tower service, HTTP or not. What needs a feature
//! says so in these pages.
//!
//! [tower]: https://docs.rs/tower
//! [metrics]: https://docs.rs/metrics
// What is not there without its feature leads to where that is said.
#![cfg_attr(not(feature = "redis"), doc = "[`RedisStore`]: #features")]
#![cfg_attr(not(feature = "axum"), doc = "[`Route`]: #features")]
#![cfg_attr(not(feature = "rules"), doc = "[`RuleSet`]: #features")]
#![cfg_attr(not(feature = "rules"), doc = "[rules file]: #features")]
#![cfg_attr(feature = "rules", doc = "[rules file]: rules")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod algorithm;
mod charge;
mod clock;
mod decision;
mod digits;
pub mod extract;
#[cfg(all(feature = "__fuzzing", feature = "redis"))]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(all(doc, any(not(doctest), all(feature = "redis", feature = "axum"))))]
#[cfg_attr(docsrs, doc(auto_cfg = false))]
pub mod guide;
mod identity;
mod invalid;
mod key;
mod layer;
mod leaving;
mod limit;
mod limiter;
mod measure;
mod observed;
mod operation;
pub mod policy;
mod quota;
mod receipt;
mod respond;
#[cfg(feature = "rules")]
pub mod rules;
mod service;
mod store;
mod time;
mod verdict;
mod waiting;

/// redis-rs, in the version whose types [`RedisStoreBuilder::connection_info`] takes.
#[cfg(feature = "redis")]
pub use deadpool_redis::redis;

#[cfg(feature = "rules")]
pub use self::rules::{Problem, RuleSet, RulesError};
#[cfg(feature = "redis")]
pub use self::store::{Health, RedisDecision, RedisStore, RedisStoreBuilder, ServerHealth, StoreError};
pub use self::{
    algorithm::{Algorithm, FixedWindow, LeakyBucket, Rule, SlidingCounter, SlidingLog, State, TokenBucket},
    charge::{Charge, Charges, DuplicateKey},
    clock::{Clock, ManualClock, Sleep},
    decision::{Decision, Tier},
    extract::{
        ApiKey, ClientIp, ContentLength, Cookie, CostExtractor, FromExtension, Global, Header, HttpMethod, KeyError,
        KeyExtractor, Matcher, Or, QueryParam,
    },
    invalid::Invalid,
    key::Key,
    layer::RateLimitLayer,
    limit::Limit,
    limiter::Limiter,
    operation::Operation,
    quota::{Cost, Quota},
    receipt::Receipt,
    respond::{AnswerBody, AsError, GrpcAnswers, HttpAnswers, Rejection, ResetUnit, Respond},
    service::{RateLimit, ResponseFuture},
    store::{Fallback, FallbackDecision, MemoryStore, MemoryStoreBuilder, Store},
    time::{END_OF_TIME, Micros},
    verdict::{Outcome, Verdict},
};
#[cfg(feature = "axum")]
pub use self::{extract::Route, policy::Sent};

/// The README's examples run too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
