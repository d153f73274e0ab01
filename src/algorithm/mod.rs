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

mod bucket;
mod fixed_window;
mod leaky_bucket;
mod rule;
mod sliding_counter;
mod sliding_log;
mod token_bucket;

use std::fmt::Debug;

#[cfg(any(feature = "redis", feature = "rules"))]
pub(crate) use self::rule::ALGORITHMS;
pub use self::{
    bucket::BucketState,
    fixed_window::{FixedWindow, FixedWindowState},
    leaky_bucket::LeakyBucket,
    rule::{Rule, State},
    sliding_counter::{SlidingCounter, SlidingCounterState},
    sliding_log::{SlidingLog, SlidingLogState},
    token_bucket::TokenBucket,
};
use crate::{quota::Cost, time::Micros, verdict::Verdict};

/// A rate-limiting algorithm: a limit as data, and what it answers.
///
/// The trait is sealed. An algorithm of one's own would need a twin in the Lua program, since tiers of different
/// algorithms are charged all or none in one call.
///
/// State starts as `State::default()`. No state, fresh state and state that has lapsed answer alike. A `now` that is
/// earlier than what the state has seen is taken for the latest time it has seen, so a clock that goes back grants
/// nothing. A `now` is at most [`END_OF_TIME`](crate::END_OF_TIME), which is what clocks show at the latest.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rate-limiting algorithm",
    note = "use `TokenBucket`, `LeakyBucket`, `FixedWindow`, `SlidingLog` or `SlidingCounter`"
)]
pub trait Algorithm: sealed::Sealed + Clone + Debug + Send + Sync + 'static {
    /// What has been used, as far as the algorithm remembers it.
    type State: Clone + Default + Debug + PartialEq + Send + 'static;

    /// What a request of this cost would be told now. Changes nothing.
    fn peek(&self, state: &Self::State, now: Micros, cost: Cost) -> Verdict;

    /// Charges a request that a peek at the same `now` admitted, and marks where, so that it can be given back.
    fn commit(&self, state: &mut Self::State, now: Micros, cost: Cost) -> Mark;

    /// Peeks, and commits what was admitted and costs anything.
    fn acquire(&self, state: &mut Self::State, now: Micros, cost: Cost) -> (Verdict, Option<Mark>) {
        let verdict = self.peek(state, now, cost);
        let takes = verdict.outcome.admits() && cost > 0;
        (verdict, takes.then(|| self.commit(state, now, cost)))
    }

    /// Gives back `cost` of the charge at `mark`, as far as it still counts.
    fn refund(&self, state: &mut Self::State, now: Micros, mark: Mark, cost: Cost);

    /// Charges `surplus` whatever is left, up to twice what the limit holds in all.
    fn overcharge(&self, state: &mut Self::State, now: Micros, surplus: Cost);

    /// Corrects a charge of `cost` at `mark` to the true cost, `to`, once that is known.
    fn settle(&self, state: &mut Self::State, now: Micros, mark: Mark, cost: Cost, to: Cost) {
        if to < cost {
            self.refund(state, now, mark, cost - to);
        } else if to > cost {
            self.overcharge(state, now, to - cost);
        }
    }

    /// When the state is as good as new; 0 when it already is fresh.
    fn expires_at(&self, state: &Self::State) -> Micros;

    /// The limit as the data that travels to a store.
    fn rule(&self) -> Rule;
}

/// Where a charge left its trace, which is what it takes to give it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// When it was charged, by the state's own time.
    pub(crate) at: Micros,
    /// A fixed window's start, a counter's sub-window, or a bucket's backlog after the charge.
    pub(crate) place: u64,
    /// What a bucket's token was worth, in its units of backlog; 0 for windows.
    pub(crate) unit: u64,
}

mod sealed {
    /// Keeps [`Algorithm`](super::Algorithm) to the algorithms that Lua knows too.
    pub trait Sealed {}
}

/// What is left of `limit` after `used`.
fn remaining(limit: u32, used: u64) -> u64 {
    u64::from(limit).saturating_sub(used)
}

/// How much of `surplus` may be added to `used`, which never grows beyond twice the limit.
fn bounded_surplus(limit: u32, used: u64, surplus: Cost) -> u64 {
    u64::from(surplus).min((2 * u64::from(limit)).saturating_sub(used))
}
