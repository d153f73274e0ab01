//! The system time, read from the CPU counter.
//!
//! Reading the operating system's clock takes as long as a decision in memory. Reading the CPU counter takes a third of that,
//! but the counter has no date, and it drifts. So it is synchronized with the system clock to within half a microsecond, and
//! resynchronized after a tenth of a millisecond. In that interval it drifts by far less than half a microsecond, even if it
//! was calibrated on a busy machine or the system clock is being slewed, so it stays within a microsecond of the system clock.
//! When the system clock is set, it follows at the next synchronization.
//! If there is no reliable counter, `quanta` reads the monotonic clock instead.

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

/// How long the counter is used before it is resynchronized.
const RESYNC_INTERVAL_NANOS: u64 = 100_000;

/// The maximal time between the two reads of the counter around a read of the system clock, for a synchronization.
const MAX_SYNC_NANOS: u64 = 1_000;

struct Counter {
    clock: Clock,
    /// The counter's value at the last synchronization, in nanoseconds.
    synced_at: AtomicU64,
    /// The offset from the counter to the time since the Unix epoch, in nanoseconds.
    offset: AtomicU64,
}

/// The current time, in microseconds since the Unix epoch.
#[inline]
pub(super) fn now() -> Micros {
    COUNTER.now() / 1000
}

impl Counter {
    fn new() -> Self {
        let counter = Self {
            clock: Clock::new(),
            synced_at: AtomicU64::new(0),
            offset: AtomicU64::new(0),
        };
        counter.sync();
        counter
    }

    #[inline]
    fn now(&self) -> u64 {
        let nanos = self.nanos();
        // A counter that jumps back, as after a suspend, wraps to a large difference and is resynchronized.
        match nanos.wrapping_sub(self.synced_at.load(Ordering::Relaxed)) < RESYNC_INTERVAL_NANOS {
            true => nanos.wrapping_add(self.offset.load(Ordering::Relaxed)),
            false => self.sync(),
        }
    }

    /// Synchronizes the counter with the system clock, and returns the time. If the thread was preempted in between, the next
    /// call synchronizes.
    fn sync(&self) -> u64 {
        let before = self.nanos();
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let time = time.unwrap_or(Duration::ZERO).as_nanos() as u64;
        let taken = self.nanos().wrapping_sub(before);
        if taken < MAX_SYNC_NANOS {
            let nanos = before.wrapping_add(taken / 2);
            self.offset.store(time.wrapping_sub(nanos), Ordering::Relaxed);
            self.synced_at.store(nanos, Ordering::Relaxed);
        }
        time
    }

    /// The counter's value, in nanoseconds since an arbitrary origin.
    #[inline]
    fn nanos(&self) -> u64 {
        self.clock.delta_as_nanos(0, self.clock.raw())
    }
}

#[cfg(test)]
mod tests;
