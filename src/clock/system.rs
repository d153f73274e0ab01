//! The system's time, told quickly.
//!
//! To ask the system what time it is takes as long as to decide a request in memory. The processor's counter is read in a
//! third of that, but it knows no date and drifts. So it is set by the system's clock to within half a microsecond, and set
//! again as soon as a tenth of a millisecond has gone by. In so short a time it drifts by far less than that, though it may
//! have been calibrated on a busy machine, and the system's clock may be on its way to another time. So it is never further
//! than a microsecond from the system's clock. Where there is no counter to rely on, `quanta` reads the system's monotonic
//! clock in its place.

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use quanta::Clock;

use crate::time::Micros;

static COUNTER: LazyLock<Counter> = LazyLock::new(Counter::new);

/// How long the counter is relied on before it is set again, in nanoseconds.
const GOOD_FOR: u64 = 100_000;

/// How far apart two looks at the counter may be for what was read between them to be set by, in nanoseconds.
const AT_ONCE: u64 = 1_000;

struct Counter {
    clock: Clock,
    /// What the counter showed when it was last set.
    set_at: AtomicU64,
    /// What it has to be advanced by, in nanoseconds, to show the time since the Unix epoch.
    ahead: AtomicU64,
}

/// The time, in microseconds since the Unix epoch.
pub(super) fn now() -> Micros {
    COUNTER.now() / 1000
}

impl Counter {
    fn new() -> Self {
        let counter = Self {
            clock: Clock::new(),
            set_at: AtomicU64::new(0),
            ahead: AtomicU64::new(0),
        };
        counter.set();
        counter
    }

    fn now(&self) -> u64 {
        let shown = self.shown();
        // A counter that went back, as one may when a machine wakes up, counts as one that was set long ago.
        match shown.wrapping_sub(self.set_at.load(Ordering::Relaxed)) < GOOD_FOR {
            true => shown.wrapping_add(self.ahead.load(Ordering::Relaxed)),
            false => self.set(),
        }
    }

    /// Sets the counter by the system's clock, and tells the time. If the thread was held up in between, the next one
    /// may try.
    fn set(&self) -> u64 {
        let before = self.shown();
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let time = time.unwrap_or(Duration::ZERO).as_nanos() as u64;
        let taken = self.shown().wrapping_sub(before);
        if taken < AT_ONCE {
            let shown = before.wrapping_add(taken / 2);
            self.ahead.store(time.wrapping_sub(shown), Ordering::Relaxed);
            self.set_at.store(shown, Ordering::Relaxed);
        }
        time
    }

    /// What the counter shows, in nanoseconds since some time ago.
    fn shown(&self) -> u64 {
        self.clock.delta_as_nanos(0, self.clock.raw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system() -> u64 {
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        time.as_micros() as u64
    }

    #[test]
    fn it_shows_the_systems_time_to_a_microsecond() {
        for _ in 0..1_000_000 {
            let (before, now, after) = (system(), now(), system());
            assert!(before <= now + 1 && now <= after + 1, "{before} {now} {after}");
        }
    }
}
