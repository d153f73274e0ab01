//! Which keys are asked often enough to be leased: an estimate in a fixed amount of memory.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering},
};

use crate::time::Micros;

/// The number of requests within a lease time from which on a key is leased.
const MIN_REQUESTS: u32 = 8;

/// Each key has a counter in each of two rows, by two parts of its hash. Its number of requests is the lower count: other keys share one
/// counter with it now and then, but hardly ever both.
const ROWS: usize = 2;
const COUNTERS: usize = 1 << 14;

/// The bits of a counter that count requests; the others number the period in which they came.
const COUNT_BITS: u32 = 8;
const MAX_COUNT: u32 = (1 << COUNT_BITS) - 1;

pub(super) struct HotKeys {
    /// Created with the first leased limit: 128 KiB.
    counters: OnceLock<Box<[AtomicU32]>>,
}

impl HotKeys {
    pub(super) fn new() -> Self {
        Self {
            counters: OnceLock::new(),
        }
    }

    /// Counts a request, and returns whether the key is hot. Concurrent requests may be counted once: that delays a lease by a request.
    pub(super) fn count(&self, hash: u64, lease: Micros, now: Micros) -> bool {
        let counters = self
            .counters
            .get_or_init(|| (0..ROWS * COUNTERS).map(|_| AtomicU32::new(0)).collect());
        let period = ((now / lease) as u32) << COUNT_BITS;
        let places = [hash as usize % COUNTERS, COUNTERS + (hash >> 32) as usize % COUNTERS];
        let counts = places.map(|place| {
            let counted = counters[place].load(Ordering::Relaxed);
            let is_current = counted & !MAX_COUNT == period;
            if is_current { counted & MAX_COUNT } else { 0 }
        });
        let count = (counts[0].min(counts[1]) + 1).min(MAX_COUNT);
        // A counter that is higher already counts another key, too.
        for (place, _) in places.iter().zip(counts).filter(|(_, counted)| *counted < count) {
            counters[*place].store(period | count, Ordering::Relaxed);
        }
        count >= MIN_REQUESTS
    }
}
