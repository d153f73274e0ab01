//! The cost of a decision by the number of keys, tiers, log entries and sub-windows.

mod memory;
mod redis;

use std::time::Duration;

pub use self::memory::tiers as memory_tiers;
use crate::benchmark::{Group, Scaling};

const LOG_LIMITS: &[usize] = &[10, 100, 1_000, 10_000];
const SUB_WINDOWS: &[usize] = &[1, 6, 60];
/// The window that is divided into sub-windows: short, so that all of them soon have counts.
const SUB_WINDOWS_WINDOW: Duration = Duration::from_millis(60);
const TIERS: &[usize] = &[1, 2, 4, 8];

pub const GROUP: Group = Group {
    title: "Scaling",
    method: include_str!("method.md"),
    benchmarks: &[],
    scalings: &[
        Scaling {
            name: "memory_keys",
            unit: "ns",
            sizes: &[1_000, 10_000, 100_000, 1_000_000],
            measure: memory::keys,
            explanation: "A lookup in a hash table does not depend on the number of keys, but the hit rate of the CPU caches does: a million keys take 100 MB.",
        },
        Scaling {
            name: "memory_tiers",
            unit: "ns",
            sizes: TIERS,
            measure: memory::tiers,
            explanation: "Each tier hashes, looks up and charges one more key.",
        },
        Scaling {
            name: "memory_log_limit",
            unit: "ns",
            sizes: LOG_LIMITS,
            measure: memory::log_limit,
            explanation: "A binary search finds the expired entries, and entries are added and removed at the ends.",
        },
        Scaling {
            name: "memory_sub_windows",
            unit: "ns",
            sizes: SUB_WINDOWS,
            measure: memory::sub_windows,
            explanation: "A decision sums the counts of all sub-windows.",
        },
        Scaling {
            name: "redis_tiers",
            unit: "us",
            sizes: TIERS,
            measure: redis::tiers,
            explanation: "Each tier sends, reads, decides and writes one more key; all share one call.",
        },
        Scaling {
            name: "redis_log_limit",
            unit: "us",
            sizes: LOG_LIMITS,
            measure: redis::log_limit,
            explanation: "Redis traverses a list to reach an entry inside of it.",
        },
        Scaling {
            name: "redis_sub_windows",
            unit: "us",
            sizes: SUB_WINDOWS,
            measure: redis::sub_windows,
            explanation: "All counts are read from one string and written back.",
        },
    ],
};
