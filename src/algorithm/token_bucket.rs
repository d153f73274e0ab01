//! Token bucket: bursts up to the capacity, the steady rate after that.

use super::{Algorithm, Mark, Rule, bucket::Bucket, bucket::BucketState, sealed::Sealed};
use crate::{
    invalid::{self, Invalid},
    quota::{Cost, Quota},
    time::Micros,
    verdict::Verdict,
};

/// Refills `limit` tokens per `window`, holds at most `capacity` of them, and starts full.
///
/// Choose it when bursts are welcome as long as the average holds: most public APIs.
///
/// ```
/// use tollgate::{Algorithm, Quota, TokenBucket};
///
/// let limit = TokenBucket::new(Quota::per_second(10)).capacity(100);
/// let mut state = Default::default();
/// assert!(limit.acquire(&mut state, 0, 100).0.outcome().admits()); // a burst, after a quiet time
/// assert_eq!(limit.peek(&state, 1_000_000, 0).remaining(), 10); // and ten a second later
/// assert!(TokenBucket::new(Quota::per_second(10)).try_capacity(0).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenBucket {
    pub(crate) bucket: Bucket,
}

impl TokenBucket {
    /// A bucket that refills by the quota and holds one quota's worth.
    ///
    /// # Panics
    /// Where [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(quota: Quota) -> Self {
        invalid::expect(Self::try_new(quota))
    }

    /// A bucket that refills by the quota and holds one quota's worth, unless that is too much to be counted exactly.
    pub fn try_new(quota: Quota) -> Result<Self, Invalid> {
        Self::try_with_capacity(quota, quota.limit())
    }

    /// A bucket of another capacity from the start, where the quota's own limit would be too much to hold.
    ///
    /// # Panics
    /// Where [`try_with_capacity`](Self::try_with_capacity) returns an error.
    #[track_caller]
    pub fn with_capacity(quota: Quota, capacity: u32) -> Self {
        invalid::expect(Self::try_with_capacity(quota, capacity))
    }

    /// A bucket of this capacity: at least 1, and little enough to be counted exactly.
    pub fn try_with_capacity(quota: Quota, capacity: u32) -> Result<Self, Invalid> {
        let bucket = Bucket::new(quota, capacity)?;
        Ok(Self { bucket })
    }

    /// How many tokens the bucket holds.
    ///
    /// # Panics
    /// Where [`try_capacity`](Self::try_capacity) returns an error.
    #[must_use]
    #[track_caller]
    pub fn capacity(self, capacity: u32) -> Self {
        invalid::expect(self.try_capacity(capacity))
    }

    /// How many tokens the bucket holds: at least 1, and few enough to be counted exactly.
    pub fn try_capacity(self, capacity: u32) -> Result<Self, Invalid> {
        let bucket = Bucket::new(self.bucket.quota, capacity)?;
        Ok(Self { bucket })
    }
}

impl Sealed for TokenBucket {}

impl Algorithm for TokenBucket {
    type State = BucketState;

    fn peek(&self, state: &BucketState, now: Micros, cost: Cost) -> Verdict {
        self.bucket.peek(state, now, cost)
    }

    fn commit(&self, state: &mut BucketState, now: Micros, cost: Cost) -> Mark {
        self.bucket.commit(state, now, cost)
    }

    fn refund(&self, state: &mut BucketState, now: Micros, mark: Mark, cost: Cost) {
        self.bucket.refund(state, now, mark, cost);
    }

    fn overcharge(&self, state: &mut BucketState, now: Micros, surplus: Cost) {
        self.bucket.overcharge(state, now, surplus);
    }

    fn expires_at(&self, state: &BucketState) -> Micros {
        self.bucket.expires_at(state)
    }

    fn rule(&self) -> Rule {
        Rule::TokenBucket(*self)
    }
}
