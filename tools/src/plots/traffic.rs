//! The five traffic patterns that every algorithm is shown, relative to the limit, so they apply to any quota.

use tollgate::{Micros, Quota};

/// The length of a pattern, in windows.
const WINDOWS: u64 = 3;

/// A traffic pattern.
pub(crate) struct Traffic {
    /// The file name of its figure.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// The arrival times for a quota, in order. The first window begins at 0.
    pub(crate) arrivals: fn(Quota) -> Vec<Micros>,
}

pub(crate) const ALL: [Traffic; 5] = [
    Traffic {
        name: "steady",
        title: "Steady: 1.5 times the limit",
        arrivals: steady,
    },
    Traffic {
        name: "burst",
        title: "Burst: 2.5 times the limit, over a low base rate",
        arrivals: burst,
    },
    Traffic {
        name: "boundary",
        title: "Boundary: twice the limit, on and off a boundary",
        arrivals: boundary,
    },
    Traffic {
        name: "ramp",
        title: "Ramp: from zero to three times the limit",
        arrivals: ramp,
    },
    Traffic {
        name: "on-off",
        title: "On-off: three times the limit, half of the time",
        arrivals: on_off,
    },
];

/// The quota's limit and window as integers.
pub(crate) fn limit_and_window(quota: Quota) -> (u64, Micros) {
    (quota.limit().into(), quota.window().as_micros() as Micros)
}

/// `count` requests, evenly spaced in `from..until`.
fn evenly(count: u64, from: Micros, until: Micros) -> impl Iterator<Item = Micros> {
    (0..count).map(move |request| from + request * (until - from) / count)
}

fn steady(quota: Quota) -> Vec<Micros> {
    let (limit, window) = limit_and_window(quota);
    evenly(WINDOWS * limit * 3 / 2, 0, WINDOWS * window).collect()
}

fn burst(quota: Quota) -> Vec<Micros> {
    let (limit, window) = limit_and_window(quota);
    let base = evenly(WINDOWS * limit / 2, 0, WINDOWS * window);
    let burst = evenly(limit * 5 / 2, window * 12 / 10, window * 14 / 10);
    let mut arrivals: Vec<_> = base.chain(burst).collect();
    arrivals.sort_unstable();
    arrivals
}

fn boundary(quota: Quota) -> Vec<Micros> {
    let (limit, window) = limit_and_window(quota);
    let around = |middle| evenly(2 * limit, middle - window / 10, middle + window / 10);
    around(window).chain(around(window * 5 / 2)).collect()
}

/// The rate grows by one limit per window, so `limit x t^2 / 2` requests have arrived after `t` windows.
fn ramp(quota: Quota) -> Vec<Micros> {
    let (limit, window) = limit_and_window(quota);
    let all = limit * WINDOWS * WINDOWS / 2;
    (0..all)
        .map(|request| (2 * request * window * window / limit).isqrt())
        .collect()
}

fn on_off(quota: Quota) -> Vec<Micros> {
    let (limit, window) = limit_and_window(quota);
    let on = |start| evenly(limit * 3 / 2, start, start + window / 2);
    (0..WINDOWS)
        .flat_map(|number| on(number * window + window / 4))
        .collect()
}
