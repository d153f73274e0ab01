//! Leaky bucket: requests are delayed to a steady rate.

use std::time::Duration;

use super::{
    Algorithm, AnyAlgorithm, Mark,
    algorithm::Sealed,
    bucket::{Bucket, BucketState},
};
use crate::{
    config_error::{self, ConfigError},
    quota::{Cost, MAX_WINDOW, Quota},
    time::Micros,
    verdict::{RawOutcome, Verdict},
};

/// Spaces requests evenly at `limit` per `window`, and queues at most `capacity` of them.
///
/// The verdict about an admitted request contains its `delay`, so that requests proceed evenly, in the order in which the store
/// decided about them, on all nodes together. Choose it to protect a service that cannot handle bursts. With
/// [`policing`](Self::policing) it denies requests instead of delaying them.
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Algorithm, LeakyBucket, Quota};
///
/// let limit = LeakyBucket::new(Quota::per_second(1)).capacity(10).max_wait(Duration::from_secs(2));
/// let mut state = Default::default();
/// let mut acquire = || limit.acquire(&mut state, 0, 1).0;
/// assert_eq!([acquire(), acquire(), acquire()].map(|verdict| verdict.delay().as_secs()), [0, 1, 2]);
/// assert_eq!(acquire().retry_after(), Some(Duration::from_secs(1))); // its delay would be 3 s
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeakyBucket {
    pub(crate) bucket: Bucket,
    pub(crate) queue: bool,
    pub(crate) max_wait: Option<Micros>,
}

impl LeakyBucket {
    /// A queue that drains at the quota's rate, with the quota's limit as its capacity.
    ///
    /// # Panics
    /// If [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(quota: Quota) -> Self {
        config_error::expect(Self::try_new(quota))
    }

    /// A queue that drains at the quota's rate, or an error if the limit is too large a capacity to count exactly.
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
        Ok(Self {
            bucket,
            queue: true,
            max_wait: None,
        })
    }

    /// Sets how many requests the bucket holds.
    ///
    /// # Panics
    /// If [`try_capacity`](Self::try_capacity) returns an error.
    #[must_use]
    #[track_caller]
    pub fn capacity(self, capacity: u32) -> Self {
        config_error::expect(self.try_capacity(capacity))
    }

    /// Sets how many requests the bucket holds: at least 1, and few enough to count exactly.
    pub fn try_capacity(self, capacity: u32) -> Result<Self, ConfigError> {
        let bucket = Bucket::new(self.bucket.quota, capacity)?;
        Ok(Self { bucket, ..self })
    }

    /// Denies requests that would be delayed for longer than this, even if the bucket is not full.
    ///
    /// # Panics
    /// If [`try_max_wait`](Self::try_max_wait) returns an error.
    #[must_use]
    #[track_caller]
    pub fn max_wait(self, max_wait: Duration) -> Self {
        config_error::expect(self.try_max_wait(max_wait))
    }

    /// Denies requests that would be delayed for longer than this, even if the bucket is not full; at most ten years.
    pub fn try_max_wait(self, max_wait: Duration) -> Result<Self, ConfigError> {
        // Rounded down, so that no delay exceeds the configured maximum.
        let wait = max_wait.as_micros();
        if wait > u128::from(MAX_WINDOW) {
            let must = "be at most 10 years (315360000 s)";
            return Err(ConfigError::new("max_wait", format_args!("{max_wait:?}"), must));
        }
        Ok(Self {
            max_wait: Some(wait as Micros),
            ..self
        })
    }

    /// Delays no request: like a token bucket, it admits what fits at once and denies the rest.
    #[must_use]
    pub fn policing(self) -> Self {
        Self { queue: false, ..self }
    }
}

impl Sealed for LeakyBucket {}

impl Algorithm for LeakyBucket {
    type State = BucketState;

    fn peek(&self, state: &BucketState, now: Micros, cost: Cost) -> Verdict {
        let verdict = self.bucket.peek(state, now, cost);
        if !self.queue || cost == 0 || verdict.outcome == RawOutcome::Impossible {
            return verdict;
        }
        let (level, _) = self.bucket.level(state, now);
        let delay = self.bucket.drain.divide_up(level);
        let excess = delay.saturating_sub(self.max_wait.unwrap_or(Micros::MAX));
        match verdict.outcome {
            RawOutcome::Admitted { .. } if excess == 0 => Verdict {
                outcome: RawOutcome::Admitted { delay },
                ..verdict
            },
            RawOutcome::Limited { retry_after } => {
                let retry_after = retry_after.max(excess);
                Verdict {
                    outcome: RawOutcome::Limited { retry_after },
                    ..verdict
                }
            }
            _ => self.bucket.verdict(RawOutcome::Limited { retry_after: excess }, level),
        }
    }

    fn commit(&self, state: &mut BucketState, now: Micros, cost: Cost) -> Mark {
        self.bucket.commit(state, now, cost)
    }

    fn refund(&self, state: &mut BucketState, now: Micros, mark: Mark, cost: Cost) {
        if self.queue {
            self.bucket.leave_queue(state, now, mark, cost);
        } else {
            self.bucket.refund(state, now, mark, cost);
        }
    }

    fn overcharge(&self, state: &mut BucketState, now: Micros, surplus: Cost) {
        self.bucket.overcharge(state, now, surplus);
    }

    fn expires_at(&self, state: &BucketState) -> Micros {
        self.bucket.expires_at(state)
    }

    fn to_any(&self) -> AnyAlgorithm {
        AnyAlgorithm::LeakyBucket(*self)
    }
}
