//! Token bucket: bursts up to the capacity, then the steady rate.

use super::{
    Algorithm, AnyAlgorithm, Mark,
    algorithm::Sealed,
    bucket::{Bucket, BucketState},
};
use crate::{
    config_error::{self, ConfigError},
    quota::{Cost, Quota},
    time::Micros,
    verdict::Verdict,
};

/// Refills `limit` tokens per `window`, holds at most `capacity` tokens, and starts full.
///
/// Choose it if bursts are acceptable as long as the average rate holds, as for most public APIs.
///
/// **In one window it admits its capacity plus its limit**: by default up to twice the limit, after an idle period. If the limit must
/// hold in every window, set a smaller `capacity`, or use a [`SlidingLog`](crate::SlidingLog):
/// [choosing a limit](crate::guide::choosing#trade-offs) compares them.
///
/// ```
/// use tollgate::{Algorithm, Quota, TokenBucket};
///
/// let limit = TokenBucket::new(Quota::per_second(10)).capacity(100);
/// let mut state = Default::default();
/// assert!(limit.acquire(&mut state, 0, 100).0.outcome().admits()); // a burst: the bucket was full
/// assert_eq!(limit.peek(&state, 1_000_000, 0).remaining(), 10); // a second later
/// assert!(TokenBucket::new(Quota::per_second(10)).try_capacity(0).is_err());
///
/// // A client that sends a request every 10 ms, from the first second of a minute to the last.
/// let admitted = |limit: TokenBucket| {
///     let mut state = Default::default();
///     (0..6000).filter(|tick| limit.acquire(&mut state, tick * 10_000, 1).0.outcome().admits()).count()
/// };
/// assert_eq!(admitted(TokenBucket::new(Quota::per_minute(60))), 119);
/// assert_eq!(admitted(TokenBucket::new(Quota::per_minute(60)).capacity(6)), 65);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenBucket {
    pub(crate) bucket: Bucket,
}

impl TokenBucket {
    /// A bucket that refills at the quota's rate, with the quota's limit as its capacity.
    ///
    /// # Panics
    /// If [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(quota: Quota) -> Self {
        config_error::expect(Self::try_new(quota))
    }

    /// A bucket that refills at the quota's rate, or an error if the limit is too large a capacity to count exactly.
    pub fn try_new(quota: Quota) -> Result<Self, ConfigError> {
        Self::try_with_capacity(quota, quota.limit())
    }

    /// A bucket with this capacity, for quotas whose limit is too large for [`new`](Self::new).
    ///
    /// # Panics
    /// If [`try_with_capacity`](Self::try_with_capacity) returns an error.
    #[track_caller]
    pub fn with_capacity(quota: Quota, capacity: u32) -> Self {
        config_error::expect(Self::try_with_capacity(quota, capacity))
    }

    /// A bucket with this capacity: at least 1, and small enough to count exactly.
    pub fn try_with_capacity(quota: Quota, capacity: u32) -> Result<Self, ConfigError> {
        let bucket = Bucket::new(quota, capacity)?;
        Ok(Self { bucket })
    }

    /// Sets how many tokens the bucket holds.
    ///
    /// # Panics
    /// If [`try_capacity`](Self::try_capacity) returns an error.
    #[must_use]
    #[track_caller]
    pub fn capacity(self, capacity: u32) -> Self {
        config_error::expect(self.try_capacity(capacity))
    }

    /// Sets how many tokens the bucket holds: at least 1, and few enough to count exactly.
    pub fn try_capacity(self, capacity: u32) -> Result<Self, ConfigError> {
        let bucket = Bucket::new(self.bucket.quota, capacity)?;
        Ok(Self { bucket })
    }
}

impl Sealed for TokenBucket {}

impl Algorithm for TokenBucket {
    type State = BucketState;

    #[inline]
    fn peek(&self, state: &BucketState, now: Micros, cost: Cost) -> Verdict {
        self.bucket.peek(state, now, cost)
    }

    #[inline]
    fn commit(&self, state: &mut BucketState, now: Micros, cost: Cost) -> Mark {
        self.bucket.commit(state, now, cost)
    }

    #[inline]
    fn acquire(&self, state: &mut Self::State, now: Micros, cost: Cost) -> (Verdict, Option<Mark>) {
        self.bucket.acquire(state, now, cost)
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

    fn to_any(&self) -> AnyAlgorithm {
        AnyAlgorithm::TokenBucket(*self)
    }
}
