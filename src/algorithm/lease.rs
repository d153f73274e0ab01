//! Leases: what the shared state of a limit must be so that units may be spent some time after they were charged.
//!
//! A node charges several units at once, at `t`, and spends them until `t + lease`. So the spends of any span lie among the charges of a
//! span that is longer by the lease. A bucket must leave room for what drains in that time, and a log must cover it. Windows and counters
//! need neither: a lease ends with the window or the sub-window that was charged.

use std::time::Duration;

#[cfg(feature = "redis")]
use super::Mark;
use super::{Algorithm, AnyAlgorithm, SlidingLog};
use crate::{quota::Quota, time::Micros};

impl AnyAlgorithm {
    /// The algorithm of the shared state under leases of this time. `None` if there can be none: each request in a queue has a departure
    /// of its own, what is held at once cannot be used later, and a bucket may be too small to leave room.
    pub(crate) fn leased(&self, lease: Micros) -> Option<Self> {
        match *self {
            Self::TokenBucket(bucket) => {
                let capacity = self.leased_capacity(lease)?;
                Some(bucket.try_capacity(capacity).ok()?.to_any())
            }
            Self::LeakyBucket(bucket) if !bucket.queue => {
                let capacity = self.leased_capacity(lease)?;
                Some(bucket.try_capacity(capacity).ok()?.to_any())
            }
            Self::LeakyBucket(_) | Self::Concurrency(_) => None,
            Self::FixedWindow(_) | Self::SlidingCounter(_) => Some(*self),
            Self::SlidingLog(log) => {
                let window = log.quota.window_micros().checked_add(lease)?;
                let quota = Quota::try_new(log.quota.limit(), Duration::from_micros(window)).ok()?;
                Some(SlidingLog { quota }.to_any())
            }
        }
    }

    /// The capacity less what drains during a lease.
    fn leased_capacity(&self, lease: Micros) -> Option<u32> {
        let quota = self.quota()?;
        let drained = (u128::from(lease) * u128::from(quota.limit())).div_ceil(u128::from(quota.window_micros()));
        let capacity = self.capacity().checked_sub(u32::try_from(drained).ok()?)?;
        (capacity > 0).then_some(capacity)
    }

    /// When the window or the sub-window of a charge ends, and with it a lease; `None` for buckets and logs.
    #[cfg(feature = "redis")]
    pub(crate) fn window_end(&self, mark: Mark) -> Option<Micros> {
        match self {
            Self::FixedWindow(fixed) => Some(mark.position + fixed.quota.window_micros()),
            Self::SlidingCounter(counter) => Some((mark.position + 1) * counter.width),
            Self::TokenBucket(_) | Self::LeakyBucket(_) | Self::SlidingLog(_) | Self::Concurrency(_) => None,
        }
    }

    /// The mark to return some units of a lease with. A bucket restores what would be left of these units alone: what a refund restores
    /// is bounded by the whole backlog after the charge, which may contain units that other nodes have returned since.
    #[cfg(feature = "redis")]
    pub(crate) fn return_mark(&self, mark: Mark, units: u32) -> Mark {
        match self {
            Self::TokenBucket(_) | Self::LeakyBucket(_) => Mark {
                position: u64::from(units) * mark.unit(),
                ..mark
            },
            Self::FixedWindow(_) | Self::SlidingCounter(_) | Self::SlidingLog(_) | Self::Concurrency(_) => mark,
        }
    }
}
