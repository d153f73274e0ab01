//! Response latencies.

use std::{fmt, time::Duration};

use crate::limits::DEADLINE;

/// A response that takes longer than this waited for more than Redis.
pub(crate) const LATE: Duration = DEADLINE.saturating_add(Duration::from_millis(20));

pub(crate) struct Latencies(Vec<Duration>);

impl Latencies {
    pub(crate) fn new(latencies: impl Iterator<Item = Duration>) -> Self {
        let mut latencies: Vec<_> = latencies.collect();
        latencies.sort_unstable();
        Self(latencies)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    fn percentile(&self, share: f64) -> Duration {
        let rank = (share * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    }

    /// The share of late responses, in percent.
    fn late(&self) -> f64 {
        let in_time = self.0.partition_point(|latency| *latency <= LATE);
        100.0 * (self.0.len() - in_time) as f64 / self.0.len().max(1) as f64
    }
}

/// In milliseconds.
impl fmt::Display for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p99, max] = [0.5, 0.99, 1.0].map(|share| 1000.0 * self.percentile(share).as_secs_f64());
        write!(f, "{p50:7.1} {p99:7.1} {max:7.1} {:8.2}%", self.late())
    }
}
