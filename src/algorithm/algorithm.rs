//! What every algorithm can do.

use std::fmt::Debug;

use super::{rule::Rule, sealed::Sealed};
use crate::{quota::Cost, time::Micros, verdict::Verdict};

/// A rate-limiting algorithm: a limit as data, and what it answers.
///
/// The trait is sealed. An algorithm of one's own would need a twin in the Lua program, since tiers of different
/// algorithms are charged all or none in one call.
///
/// State starts as `State::default()`. No state, fresh state and state that has lapsed answer alike. A `now` that is
/// earlier than what the state has seen is taken for the latest time it has seen, so a clock that goes back grants
/// nothing. A `now` is at most [`END_OF_TIME`](crate::END_OF_TIME), which is what clocks show at the latest.
///
/// ```
/// use tollgate::{Algorithm, Quota, SlidingCounter};
///
/// let limit = SlidingCounter::new(Quota::per_minute(10));
/// let mut state = Default::default();
/// let (verdict, mark) = limit.acquire(&mut state, 0, 4);
/// assert_eq!(verdict.remaining(), 6);
/// limit.settle(&mut state, 0, mark.expect("it was admitted"), 4, 1); // it turned out to cost 1
/// assert_eq!(limit.peek(&state, 0, 0).remaining(), 9);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rate-limiting algorithm",
    note = "use `TokenBucket`, `LeakyBucket`, `FixedWindow`, `SlidingLog` or `SlidingCounter`"
)]
pub trait Algorithm: Sealed + Clone + Debug + Send + Sync + 'static {
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
