//! The memory of a key by size: of a log by its entries, of a counter by its sub-windows.

use std::time::Duration;

use tollgate::{Limit, ManualClock, Quota, SlidingCounter, SlidingLog};

use super::{B, charge_once, memory_usage};
use crate::{benchmark::Scaling, runner::Runner, server::RedisServer};

const MINUTE: Duration = Duration::from_secs(60);

pub(super) const SCALINGS: &[Scaling] = &[
    Scaling {
        name: "redis_bytes_full_log",
        unit: B,
        sizes: &[5, 10, 100, 1000, 10_000],
        measure: |runner, sizes| sizes.iter().map(|entries| full_log(runner, *entries as u32)).collect(),
        explanation: "Ten bytes per entry, and Redis rounds up its allocations.",
    },
    Scaling {
        name: "redis_bytes_sub_windows",
        unit: B,
        sizes: &[1, 6, 60],
        measure: |runner, sizes| {
            sizes
                .iter()
                .map(|sub_windows| full_counter(runner, 100, *sub_windows as u32))
                .collect()
        },
        explanation: "One or two bytes per sub-window, since the counts are small.",
    },
    Scaling {
        name: "redis_bytes_busy_sub_windows",
        unit: B,
        sizes: &[1, 6, 60],
        measure: |runner, sizes| {
            sizes
                .iter()
                .map(|sub_windows| full_counter(runner, 10_000, *sub_windows as u32))
                .collect()
        },
        explanation: "The same for a limit of 10,000: larger counts take up to three bytes.",
    },
];

fn full_log(runner: &Runner, entries: u32) -> f64 {
    let limit = Limit::new("user", SlidingLog::new(Quota::new(entries, MINUTE)));
    let interval = MINUTE / entries;
    bytes(runner, &limit, (0..entries).map(|_| (1, interval)))
}

/// The limit, spread evenly over the sub-windows of a window.
fn full_counter(runner: &Runner, limit: u32, sub_windows: u32) -> f64 {
    let each = limit / sub_windows;
    let limit = Limit::new(
        "user",
        SlidingCounter::new(Quota::new(limit, MINUTE)).sub_windows(sub_windows),
    );
    bytes(runner, &limit, (0..sub_windows).map(|_| (each, MINUTE / sub_windows)))
}

/// The memory of a key after these costs, on a manual clock that advances by an interval after each.
fn bytes(runner: &Runner, limit: &Limit, costs: impl Iterator<Item = (u32, Duration)>) -> f64 {
    let server = RedisServer::start();
    let clock = ManualClock::at(1_700_000_040_000_000);
    let store = server.store().clock(clock.clone()).build().expect("valid settings");
    for (cost, interval) in costs {
        charge_once(runner, &store, limit, cost);
        clock.advance(interval);
    }
    memory_usage(&mut server.client())
}
