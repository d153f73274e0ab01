//! The five algorithms, each as data and pure functions.
//!
//! A limit is data; a decision is a function of (limit, state, time, cost) and of nothing else. [`Algorithm::peek`]
//! asks, [`Algorithm::commit`] charges after a peek that admitted, and both are plain integer arithmetic: no clock, no
//! lock, no runtime. The memory store calls these functions; the Redis store sends [`Rule`]s to a Lua program that
//! does the same arithmetic with the same names.
//!
//! | algorithm | remembers | lets through in any window, at most |
//! | --- | --- | --- |
//! | [`TokenBucket`] | how much is owed | its capacity, then the steady rate |
//! | [`LeakyBucket`] | the same, and holds requests back to the steady rate | the limit, evenly spaced |
//! | [`FixedWindow`] | one count | twice the limit, across a boundary |
//! | [`SlidingLog`] | the time of every admitted request | the limit |
//! | [`SlidingCounter`] | a count per sub-window | close to the limit; twice the limit, if somebody aims at sub-windows |
//!
//! ```
//! use tollgate::{Algorithm, Quota, TokenBucket, algorithm::BucketState};
//!
//! let limit = TokenBucket::new(Quota::per_second(1)).capacity(10);
//! let mut state = BucketState::default();
//! assert_eq!(limit.peek(&state, 0, 3).remaining(), 7);
//! limit.commit(&mut state, 0, 3);
//! assert_eq!(limit.peek(&state, 2_000_000, 0).remaining(), 9);
//! ```

mod algorithm;
mod bucket;
mod counting;
mod fixed_window;
mod leaky_bucket;
mod rule;
mod sealed;
mod sliding_counter;
mod sliding_log;
mod token_bucket;

#[cfg(any(feature = "redis", feature = "rules"))]
pub(crate) use self::rule::ALGORITHMS;
pub use self::{
    algorithm::{Algorithm, Mark},
    bucket::BucketState,
    fixed_window::{FixedWindow, FixedWindowState},
    leaky_bucket::LeakyBucket,
    rule::{Rule, State},
    sliding_counter::{SlidingCounter, SlidingCounterState},
    sliding_log::{SlidingLog, SlidingLogState},
    token_bucket::TokenBucket,
};
