//! What a decision costs as something grows: keys, tiers, a log's limit, a counter's sub-windows.

mod memory;
mod redis;

use std::time::Duration;

use crate::figure::{Group, Growth};

const LOG_LIMITS: &[usize] = &[10, 100, 1_000, 10_000];
const SUB_WINDOWS: &[usize] = &[1, 6, 60];
/// The window that is cut into sub-windows: short, so that all of them have soon counted something.
const SUB_WINDOWED: Duration = Duration::from_millis(60);
const TIERS: &[usize] = &[1, 2, 4, 8];

pub const GROUP: Group = Group {
    title: "Growth",
    how: include_str!("how.md"),
    figures: &[],
    growths: &[
        Growth {
            name: "memory_keys",
            unit: "ns",
            sizes: &[1_000, 10_000, 100_000, 1_000_000],
            measure: memory::keys,
            why: "A hash table does not care how many keys it holds, but the processor's caches do: a million keys take a hundred megabytes.",
        },
        Growth {
            name: "memory_tiers",
            unit: "ns",
            sizes: TIERS,
            measure: memory::tiers,
            why: "Each tier is a key of its own to be hashed, found and charged.",
        },
        Growth {
            name: "memory_log_limit",
            unit: "ns",
            sizes: LOG_LIMITS,
            measure: memory::log_limit,
            why: "What has lapsed is found by bisection, and entries are taken and added at the ends.",
        },
        Growth {
            name: "memory_sub_windows",
            unit: "ns",
            sizes: SUB_WINDOWS,
            measure: memory::sub_windows,
            why: "A decision adds up the counts of all sub-windows.",
        },
        Growth {
            name: "redis_tiers",
            unit: "us",
            sizes: TIERS,
            measure: redis::tiers,
            why: "Each tier is a key of its own to be sent, read, decided and written; the call is shared.",
        },
        Growth {
            name: "redis_log_limit",
            unit: "us",
            sizes: LOG_LIMITS,
            measure: redis::log_limit,
            why: "Redis walks a list to what is inside of it.",
        },
        Growth {
            name: "redis_sub_windows",
            unit: "us",
            sizes: SUB_WINDOWS,
            measure: redis::sub_windows,
            why: "The counts are read from a string and written to it as a whole.",
        },
    ],
};
