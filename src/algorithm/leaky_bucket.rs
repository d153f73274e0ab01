//! Leaky bucket: requests leave one after another, at the steady rate.

use std::time::Duration;

use super::{Algorithm, Mark, Rule, bucket::Bucket, bucket::BucketState, sealed::Sealed};
use crate::{
    invalid::{self, Invalid},
    quota::{Cost, LONGEST, Quota},
    time::Micros,
    verdict::{Outcome, Verdict},
};

/// Lets requests leave at exactly `limit` per `window`, and holds at most `capacity` of them meanwhile.
///
/// An admitted request is told its `delay`, so that requests leave evenly, in the order the store saw them, whatever
/// node they came in on. Choose it to protect something that cannot take bursts. [`policing`](Self::policing) refuses
/// instead of holding.
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Algorithm, LeakyBucket, Quota};
///
/// let limit = LeakyBucket::new(Quota::per_second(1)).capacity(10).max_wait(Duration::from_secs(2));
/// let mut state = Default::default();
/// let mut ask = || limit.acquire(&mut state, 0, 1).0;
/// assert_eq!([ask(), ask(), ask()].map(|verdict| verdict.delay().as_secs()), [0, 1, 2]);
/// assert_eq!(ask().retry_after(), Some(Duration::from_secs(1))); // it would be held for three
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeakyBucket {
    pub(crate) bucket: Bucket,
    pub(crate) queue: bool,
    pub(crate) max_wait: Option<Micros>,
}

impl LeakyBucket {
    /// A queue that drains by the quota and holds one quota's worth.
    ///
    /// # Panics
    /// Where [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(quota: Quota) -> Self {
        invalid::expect(Self::try_new(quota))
    }

    /// A queue that drains by the quota and holds one quota's worth, unless that is too much to be counted exactly.
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
        Ok(Self {
            bucket,
            queue: true,
            max_wait: None,
        })
    }

    /// How many requests the bucket holds.
    ///
    /// # Panics
    /// Where [`try_capacity`](Self::try_capacity) returns an error.
    #[must_use]
    #[track_caller]
    pub fn capacity(self, capacity: u32) -> Self {
        invalid::expect(self.try_capacity(capacity))
    }

    /// How many requests the bucket holds: at least 1, and few enough to be counted exactly.
    pub fn try_capacity(self, capacity: u32) -> Result<Self, Invalid> {
        let bucket = Bucket::new(self.bucket.quota, capacity)?;
        Ok(Self { bucket, ..self })
    }

    /// Refuses a request that would be held for longer than this, even while there is room.
    ///
    /// # Panics
    /// Where [`try_max_wait`](Self::try_max_wait) returns an error.
    #[must_use]
    #[track_caller]
    pub fn max_wait(self, max_wait: Duration) -> Self {
        invalid::expect(self.try_max_wait(max_wait))
    }

    /// Refuses a request that would be held for longer than this, even while there is room; at most ten years.
    pub fn try_max_wait(self, max_wait: Duration) -> Result<Self, Invalid> {
        // Rounded down: a request may never wait longer than it was told.
        let wait = max_wait.as_micros();
        if wait > u128::from(LONGEST) {
            let must = "be at most 10 years (315360000 s)";
            return Err(Invalid::new("max_wait", format_args!("{max_wait:?}"), must));
        }
        Ok(Self {
            max_wait: Some(wait as Micros),
            ..self
        })
    }

    /// Holds nobody: what fits passes at once, as through a token bucket, and the rest is refused.
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
        if !self.queue || cost == 0 || verdict.outcome == Outcome::Impossible {
            return verdict;
        }
        let (level, _) = self.bucket.level(state, now);
        let delay = level.div_ceil(self.bucket.drain);
        let too_long = delay.saturating_sub(self.max_wait.unwrap_or(Micros::MAX));
        match verdict.outcome {
            Outcome::Admitted { .. } if too_long == 0 => Verdict {
                outcome: Outcome::Admitted { delay },
                ..verdict
            },
            Outcome::Limited { retry_after } => {
                let retry_after = retry_after.max(too_long);
                Verdict {
                    outcome: Outcome::Limited { retry_after },
                    ..verdict
                }
            }
            _ => self.bucket.verdict(Outcome::Limited { retry_after: too_long }, level),
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

    fn rule(&self) -> Rule {
        Rule::LeakyBucket(*self)
    }
}
