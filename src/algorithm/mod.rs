//! The five algorithms, each as data and pure functions.
//!
//! They differ in what they remember, and so in what they let through. Here is one and the same client, who may send four
//! requests in four seconds, and who sends four at 3.9 s, and four again at 4.1 s and at 6 s:
//!
//! ```
//! use std::time::Duration;
//! use tollgate::{Algorithm, Quota};
//! use tollgate::{FixedWindow, LeakyBucket, SlidingCounter, SlidingLog, TokenBucket};
//!
//! /// How many of the four pass, at each of these times.
//! fn passed(limit: impl Algorithm) -> [usize; 3] {
//!     let mut state = Default::default();
//!     [3_900_000, 4_100_000, 6_000_000].map(|now| {
//!         let verdicts = (0..4).map(|_| limit.acquire(&mut state, now, 1).0);
//!         verdicts.filter(|verdict| verdict.outcome().admits()).count()
//!     })
//! }
//! let four = Quota::new(4, Duration::from_secs(4));
//!
//! // It counts from zero at every full four seconds: eight pass within 0.2 s.
//! assert_eq!(passed(FixedWindow::new(four)), [4, 4, 0]);
//! // It knows when each of them came. No four seconds ever have more than four.
//! assert_eq!(passed(SlidingLog::new(four)), [4, 0, 0]);
//! // It knows how many came before 4 s, and forgets them little by little.
//! assert_eq!(passed(SlidingCounter::new(four)), [4, 1, 1]);
//! // It is given a token a second.
//! assert_eq!(passed(TokenBucket::new(four)), [4, 0, 2]);
//! // So is this one, but those who pass are told when to leave: one a second.
//! assert_eq!(passed(LeakyBucket::new(four)), [4, 0, 2]);
//! ```
//!
//! [Choosing a limit](crate::guide::choosing) draws them, and helps to choose.
//!
//! | algorithm | remembers | lets through in any window, at most |
//! | --- | --- | --- |
//! | [`TokenBucket`] | how much is owed | its capacity, then the steady rate |
//! | [`LeakyBucket`] | the same, and holds requests back to the steady rate | the limit, evenly spaced |
//! | [`FixedWindow`] | one count | twice the limit, across a boundary |
//! | [`SlidingLog`] | the time of every admitted request | the limit |
//! | [`SlidingCounter`] | a count per sub-window | close to the limit; twice the limit, if somebody aims at sub-windows |
//!
//! # As functions
//!
//! A limit is data; a decision is a function of (limit, state, time, cost) and of nothing else. [`Algorithm::peek`]
//! asks, [`Algorithm::commit`] charges after a peek that admitted, and both are plain integer arithmetic: no clock, no
//! lock, no runtime. The memory store calls these functions; the Redis store sends [`Rule`]s to a Lua program that
//! does the same arithmetic with the same names.
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
