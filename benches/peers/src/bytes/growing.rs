//! What a key takes as it remembers more: a log by its entries, a counter by its sub-windows.

use std::time::Duration;

use tollgate::{Limit, ManualClock, Quota, SlidingCounter, SlidingLog};

use super::{B, all_keys, take};
use crate::{bench::Bench, figure::Growth, server::RedisServer};

const MINUTE: Duration = Duration::from_secs(60);

pub(super) const GROWTHS: &[Growth] = &[
    Growth {
        name: "redis_bytes_full_log",
        unit: B,
        sizes: &[5, 10, 100, 1000, 10_000],
        measure: |bench, sizes| sizes.iter().map(|entries| full_log(bench, *entries as u32)).collect(),
        why: "Ten bytes an entry, and Redis rounds up what it asks the system for.",
    },
    Growth {
        name: "redis_bytes_sub_windows",
        unit: B,
        sizes: &[1, 6, 60],
        measure: |bench, sizes| {
            sizes
                .iter()
                .map(|buckets| full_counter(bench, 100, *buckets as u32))
                .collect()
        },
        why: "One or two bytes a sub-window, whose counts are small.",
    },
    Growth {
        name: "redis_bytes_busy_sub_windows",
        unit: B,
        sizes: &[1, 6, 60],
        measure: |bench, sizes| {
            sizes
                .iter()
                .map(|buckets| full_counter(bench, 10_000, *buckets as u32))
                .collect()
        },
        why: "The same for a limit of 10,000: larger counts take up to three bytes.",
    },
];

fn full_log(bench: &Bench, entries: u32) -> f64 {
    let limit = Limit::new("user", SlidingLog::new(Quota::new(entries, MINUTE)));
    let apart = MINUTE / entries;
    bytes(bench, &limit, (0..entries).map(|_| (1, apart)))
}

/// As much as fits, evenly: the same in every sub-window of a whole window.
fn full_counter(bench: &Bench, limit: u32, buckets: u32) -> f64 {
    let each = limit / buckets;
    let limit = Limit::new("user", SlidingCounter::new(Quota::new(limit, MINUTE)).buckets(buckets));
    bytes(bench, &limit, (0..buckets).map(|_| (each, MINUTE / buckets)))
}

/// What a key takes once these costs are charged, on a named clock that moves on by so much after each.
fn bytes(bench: &Bench, limit: &Limit, costs: impl Iterator<Item = (u32, Duration)>) -> f64 {
    let server = RedisServer::start();
    let clock = ManualClock::at(1_700_000_040_000_000);
    let store = server
        .store()
        .clock(clock.clone())
        .build()
        .expect("the settings are valid");
    for (cost, apart) in costs {
        take(bench, &store, limit, cost);
        clock.advance(apart);
    }
    all_keys(&mut server.client())
}
