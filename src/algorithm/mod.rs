//! The six algorithms, each as data and pure functions.
//!
//! Five limit how often, and [`Concurrency`] how many at once. The five differ in the state that they keep, and so in what they admit.
//! In this example the limit is four requests in four seconds, and a client sends four requests at 3.9 s, four at 4.1 s and four at
//! 6 s:
//!
//! ```
//! use std::time::Duration;
//! use tollgate::{Algorithm, Quota};
//! use tollgate::{FixedWindow, LeakyBucket, SlidingCounter, SlidingLog, TokenBucket};
//!
//! /// How many of the four are admitted at each time.
//! fn admitted(limit: impl Algorithm) -> [usize; 3] {
//!     let mut state = Default::default();
//!     [3_900_000, 4_100_000, 6_000_000].map(|now| {
//!         let verdicts = (0..4).map(|_| limit.acquire(&mut state, now, 1).0);
//!         verdicts.filter(|verdict| verdict.outcome().admits()).count()
//!     })
//! }
//! let four = Quota::new(4, Duration::from_secs(4));
//!
//! // Its count starts at zero every four seconds: it admits eight within 0.2 s.
//! assert_eq!(admitted(FixedWindow::new(four)), [4, 4, 0]);
//! // It keeps the time of each request: no four seconds have more than four.
//! assert_eq!(admitted(SlidingLog::new(four)), [4, 0, 0]);
//! // It keeps the count before 4 s, and weights it less as time passes.
//! assert_eq!(admitted(SlidingCounter::new(four)), [4, 1, 1]);
//! // It refills one token per second.
//! assert_eq!(admitted(TokenBucket::new(four)), [4, 0, 2]);
//! // It drains at the same rate, and delays what it admits to one per second.
//! assert_eq!(admitted(LeakyBucket::new(four)), [4, 0, 2]);
//! ```
//!
//! [Choosing a limit](crate::guide::choosing) has plots of all of them, and helps you choose.
//!
//! | algorithm | state | maximum admitted in any window |
//! | --- | --- | --- |
//! | [`TokenBucket`] | a level and its timestamp | its capacity, and what it refills in the window |
//! | [`LeakyBucket`] | a level and its timestamp; it delays requests to the steady rate | the limit, evenly spaced |
//! | [`FixedWindow`] | one count | twice the limit, across a boundary |
//! | [`SlidingLog`] | the time of every admitted request | the limit |
//! | [`SlidingCounter`] | a count per sub-window | close to the limit; twice the limit if a client exploits sub-windows |
//! | [`Concurrency`] | a count per process | any number, the limit at once |
//!
//! # As functions
//!
//! A limit is data; a decision is a function of (limit, state, time, cost) only. [`Algorithm::peek`] decides,
//! [`Algorithm::commit`] charges after a peek that admitted, and both are plain arithmetic: no clock, no lock, no runtime.
//! The memory store calls these functions; the Redis store sends [`AnyAlgorithm`]s to a Lua script that does the same
//! arithmetic with the same names.
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
mod any;
mod bucket;
mod concurrency;
mod divisor;
mod fixed_window;
mod leaky_bucket;
mod lease;
mod sliding_counter;
mod sliding_log;
mod token_bucket;

#[cfg(any(feature = "redis", feature = "rules"))]
pub(crate) use self::any::ALGORITHMS;
pub(crate) use self::concurrency::NEVER;
pub use self::{
    algorithm::{Algorithm, Mark},
    any::{AnyAlgorithm, State},
    bucket::BucketState,
    concurrency::{Concurrency, ConcurrencyState, Holder},
    fixed_window::{FixedWindow, FixedWindowState},
    leaky_bucket::LeakyBucket,
    sliding_counter::{SlidingCounter, SlidingCounterState},
    sliding_log::{SlidingLog, SlidingLogState},
    token_bucket::TokenBucket,
};
