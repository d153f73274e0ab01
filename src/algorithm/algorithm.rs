//! The trait of all algorithms.

use std::{fmt::Debug, num::NonZeroU64};

use super::any::AnyAlgorithm;
use crate::{quota::Cost, time::Micros, verdict::Verdict};

/// A rate-limiting algorithm: its parameters as data, and pure functions on its state.
///
/// The trait is sealed. A custom algorithm would also need an implementation in the Lua script, since one call charges tiers of
/// different algorithms all or none.
///
/// State starts as `State::default()`. Expired state is equivalent to fresh state. If `now` is earlier than the latest time in
/// the state, the latter is used, so a clock that goes back does not free capacity. `now` must not exceed
/// [`MAX_TIMESTAMP`](crate::MAX_TIMESTAMP), to which clocks saturate.
///
/// A denial denies every higher cost too, for at least as long: the Redis store repeats cached denials to higher costs. The capacity is
/// the limit of the quota, except that of a bucket.
///
/// ```
/// use tollgate::{Algorithm, Quota, SlidingCounter};
///
/// let limit = SlidingCounter::new(Quota::per_minute(10));
/// let mut state = Default::default();
/// let (verdict, mark) = limit.acquire(&mut state, 0, 4);
/// assert_eq!(verdict.remaining(), 6);
/// limit.settle(&mut state, 0, mark.expect("it was admitted"), 4, 1); // the true cost was 1
/// assert_eq!(limit.peek(&state, 0, 0).remaining(), 9);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a rate-limiting algorithm",
    note = "use `TokenBucket`, `LeakyBucket`, `FixedWindow`, `SlidingLog`, `SlidingCounter` or `Concurrency`"
)]
pub trait Algorithm: Sealed + Clone + Debug + Send + Sync + 'static {
    /// The usage that the algorithm keeps per key.
    type State: Clone + Default + Debug + PartialEq + Send + 'static;

    /// The verdict about a request of this cost, without changing the state.
    fn peek(&self, state: &Self::State, now: Micros, cost: Cost) -> Verdict;

    /// Charges a request that a peek at the same `now` admitted, and returns the position of the charge, for a refund.
    fn commit(&self, state: &mut Self::State, now: Micros, cost: Cost) -> Mark;

    /// Peeks, and commits if the request is admitted and its cost is not 0.
    #[inline]
    fn acquire(&self, state: &mut Self::State, now: Micros, cost: Cost) -> (Verdict, Option<Mark>) {
        let verdict = self.peek(state, now, cost);
        let is_charged = verdict.outcome.admits() && cost > 0;
        (verdict, is_charged.then(|| self.commit(state, now, cost)))
    }

    /// Refunds `cost` of the charge at `mark`, as far as it still counts.
    fn refund(&self, state: &mut Self::State, now: Micros, mark: Mark, cost: Cost);

    /// Charges `surplus` even if the limit is exhausted, up to a total of twice its capacity.
    fn overcharge(&self, state: &mut Self::State, now: Micros, surplus: Cost);

    /// Corrects a charge of `cost` at `mark` to the true cost, `to`.
    fn settle(&self, state: &mut Self::State, now: Micros, mark: Mark, cost: Cost, to: Cost) {
        if to < cost {
            self.refund(state, now, mark, cost - to);
        } else if to > cost {
            self.overcharge(state, now, to - cost);
        }
    }

    /// When the state expires, from then on equivalent to fresh state; 0 if it is fresh, and later
    /// than any time while a [`Concurrency`](crate::Concurrency) limit is held.
    fn expires_at(&self, state: &Self::State) -> Micros;

    /// The algorithm as the enum that stores take.
    fn to_any(&self) -> AnyAlgorithm;
}

/// Restricts [`Algorithm`] to the algorithms that the Lua script implements too.
pub trait Sealed {}

/// The position of a charge in a state, which a refund needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The time of the charge: not before the latest time in the state.
    pub(crate) at: Micros,
    /// The start of a fixed window, the sub-window of a counter, the backlog of a bucket after the charge, or when the entry of a holder was
    /// made.
    pub(crate) position: u64,
    /// One more than the units of backlog per token: a number that is never zero makes `Option<Mark>` as small as a mark. So a decision with
    /// a tag has 128 bytes, and the compiler copies more than that by a call to memcpy.
    pub(super) unit_plus_one: NonZeroU64,
}

impl Mark {
    /// The time of the charge, its position (the start of a window, the index of a sub-window, the backlog of a bucket, the time of a holder's entry), and the units of
    /// backlog per token, which are 0 for windows. For stores of your own that do not use
    /// [`Operation::apply_to`](crate::Operation::apply_to).
    pub const fn new(at: Micros, position: u64, unit: u64) -> Self {
        let unit_plus_one = NonZeroU64::MIN.saturating_add(unit);
        Self {
            at,
            position,
            unit_plus_one,
        }
    }

    /// The units of backlog per token of a bucket; 0 for windows.
    pub(crate) const fn unit(self) -> u64 {
        self.unit_plus_one.get() - 1
    }

    /// The three numbers of [`new`](Self::new).
    pub const fn to_numbers(self) -> [u64; 3] {
        [self.at, self.position, self.unit()]
    }
}
