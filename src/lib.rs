//! Exact rate limits for [tower] services, in memory on one node or shared through Redis by many.
//!
//! ```
//! use axum::{Router, routing::get};
//! use tollgate::{ClientIp, Global, Header, MemoryStore, Quota, RateLimitLayer, Tier};
//!
//! let store = MemoryStore::new(); // or RedisStore::connect("redis://127.0.0.1:6379")?
//! let user = Header::new("x-user-id").or(ClientIp::peer());
//!
//! let limits = RateLimitLayer::sliding_counter("global", Quota::per_minute(10_000), Global, store)
//!     .tier(Tier::token_bucket("user", Quota::per_minute(100), user.clone()));
//! let expensive = limits.clone().tier(Tier::sliding_log("expensive", Quota::per_minute(10), user));
//!
//! let app: Router = Router::new()
//!     .route("/api/hello", get(async || "hello").layer(limits))
//!     .route("/api/expensive", get(async || "done").layer(expensive));
//! # let _ = app;
//! ```
//!
//! - [`RateLimitLayer`] is the tower layer: an algorithm with its quota, a key extractor and a store. A [`Tier`] is one of its limits.
//! - [`algorithm`] has the six algorithms; [`extract`] has the key extractors.
//! - [`HttpResponder`] builds responses and headers, for gRPC too; [`AsError`] is for services that are not HTTP.
//! - [`MemoryStore`] counts in this process, [`RedisStore`] for all processes that share a Redis.
//! - [`Limiter`] applies limits without middleware: to messages, jobs, admin pages.
//!
//! # Guide
//!
//! [The guide](guide) starts from the beginning, with examples that run:
//!
//! - [Quick start](guide::quick_start), [choosing a limit](guide::choosing), and [several limits on one request](guide::tiers).
//! - [Recipes](guide::recipes): logins, API plans, token budgets, an expensive endpoint, a CDN, calls to others.
//! - [Keys](guide::keys), and [client addresses behind proxies](guide::behind_proxies).
//! - [When Redis fails](guide::when_redis_fails), [stores](guide::stores), and [Sentinel and Cluster](guide::sentinels_and_clusters).
//! - [Leases](guide::leases), for keys that thousands of requests per second share.
//! - [Testing your service](guide::testing) with a manual clock.
//! - [Migrating from tower_governor](guide::migrating).
//! - [A glossary](guide::glossary).
//!
//! # How it works
//!
//! A limit is data, and a decision is a pure function of (limit, state, time, cost). A request passes through these steps:
//!
//! ```text
//! request --extract--> charges --store--> decision --respond--> 429, or the inner service and headers
//!                                 ^                                           |
//!                                 +--------- settle, by the response ---------+
//! ```
//!
//! A [store](Store) keeps state and decides in one atomic step: the memory store calls the functions of [`algorithm`],
//! and the Redis store runs a Lua script that does the same arithmetic. Both return the same decisions, to the microsecond.
//! A store can be called directly, without middleware:
//!
//! ```
//! use tollgate::{Charge, Charges, Key, Limit, MemoryStore, Operation, Quota, SlidingCounter, Store, TokenBucket};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
//! let store = MemoryStore::new();
//! let global = Limit::new("global", SlidingCounter::new(Quota::per_minute(10_000)));
//! let user = Limit::new("user", TokenBucket::new(Quota::per_minute(100)).capacity(20));
//!
//! // The charges of a request are applied all or none.
//! let mut charges = Charges::new();
//! charges.push(Charge::new(global, Key::GLOBAL))?;
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
//! | feature | default | adds | requires |
//! | --- | --- | --- | --- |
//! | `redis` | yes | [`RedisStore`] | Redis 6.2 or later, or Valkey |
//! | `axum` | yes | [`Route`], the peer address from axum, and [`Decision`] as an extractor | axum 0.8 |
//! | `tls` | no | `rediss://` URLs, with rustls | nothing; it enables `redis` |
//! | `rules` | no | [`RuleSet`]: limits from a [rules file] that is reloaded when it changes | a rules file, or its text |
//! | `metrics` | no | [metrics](guide::observability), by the [metrics] facade | a recorder, like metrics-exporter-prometheus |
//!
//! Without any feature, the crate has the memory store and the layer for any tower service, HTTP or not. Items that need a
//! feature are marked in this documentation.
//!
//! [tower]: https://docs.rs/tower
//! [metrics]: https://docs.rs/metrics
// Links to items of disabled features point to the table of features.
#![cfg_attr(not(feature = "redis"), doc = "[`RedisStore`]: #features")]
#![cfg_attr(not(feature = "axum"), doc = "[`Route`]: #features")]
#![cfg_attr(not(feature = "rules"), doc = "[`RuleSet`]: #features")]
#![cfg_attr(not(feature = "rules"), doc = "[rules file]: #features")]
#![cfg_attr(feature = "rules", doc = "[rules file]: rules")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod algorithm;
mod cancellation;
mod charge;
mod clock;
mod config_error;
mod decimal;
mod decision;
mod decision_span;
pub mod extract;
#[cfg(all(feature = "__fuzzing", feature = "redis"))]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(all(doc, any(not(doctest), all(feature = "redis", feature = "axum"))))]
#[cfg_attr(docsrs, doc(auto_cfg = false))]
pub mod guide;
mod key;
mod key_encoding;
mod layer;
mod limit;
mod limiter;
mod metrics;
mod operation;
mod permit;
pub mod policy;
mod quota;
mod receipt;
mod respond;
#[cfg(feature = "rules")]
pub mod rules;
mod service;
mod store;
mod time;
mod transaction;
mod verdict;
mod wait_queue;

/// redis-rs, in the version of the types that [`RedisStoreBuilder::connection_info`] takes.
#[cfg(feature = "redis")]
pub use deadpool_redis::redis;

#[cfg(feature = "redis")]
pub use self::store::{Health, NodeHealth, RedisCause, RedisDecision, RedisStore, RedisStoreBuilder, StoreError};
pub use self::{
    algorithm::{
        Algorithm, AnyAlgorithm, Concurrency, FixedWindow, LeakyBucket, Mark, SlidingCounter, SlidingLog, State,
        TokenBucket,
    },
    charge::{Charge, Charges, DuplicateKey},
    clock::{Clock, ManualClock, Sleep},
    config_error::ConfigError,
    decision::{Decision, DecisionExtension, TierDecision},
    extract::{
        ApiKey, ClientIp, ContentLength, Cookie, CostExtractor, FromExtension, Global, Header, HttpMethod, KeyError,
        KeyExtractor, Matcher, Optional, Or, QueryParam, key_fn,
    },
    key::Key,
    layer::{BoxRateLimitLayer, RateLimitLayer},
    limit::Limit,
    limiter::{CallKey, Limiter, LimiterTier},
    operation::Operation,
    permit::Permit,
    policy::Tier,
    quota::{Cost, Quota, QuotaUnit},
    receipt::{Charged, Receipt},
    respond::{
        AsError, GrpcResponder, HeldBody, HttpResponder, IetfDraft, MapBody, ProblemType, Rejection, RejectionBody,
        ResetUnit, Respond,
    },
    service::{RateLimit, ResponseFuture},
    store::{Fallback, FallbackDecision, MemoryStore, MemoryStoreBuilder, Store},
    time::{MAX_TIMESTAMP, Micros},
    verdict::{Outcome, Verdict},
};
#[cfg(feature = "axum")]
pub use self::{
    extract::Route,
    policy::{BodyMeter, JsonUsage, MeterBody, SentBody, UsageMeter},
};
#[cfg(feature = "rules")]
pub use self::{
    layer::RulesLayer,
    rules::{Diagnostic, RuleSet, RulesError},
};

/// Runs the examples of the README as doctests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
