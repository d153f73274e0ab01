//! Limits the rate of repeated log lines.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

const MIN_LOG_INTERVAL: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(crate) struct LogThrottle(Mutex<Throttled>);

#[derive(Default)]
struct Throttled {
    last: Option<Instant>,
    /// Events since the last line.
    count: u64,
}

impl LogThrottle {
    /// Counts an event. If the last line is old enough, calls `log` with the number of events since then.
    pub(crate) fn record(&self, log: impl FnOnce(u64)) {
        let mut throttled = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        throttled.count += 1;
        if throttled.last.is_none_or(|last| last.elapsed() >= MIN_LOG_INTERVAL) {
            log(throttled.count);
            *throttled = Throttled {
                last: Some(Instant::now()),
                count: 0,
            };
        }
    }
}
