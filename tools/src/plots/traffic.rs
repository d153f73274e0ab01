//! The five kinds of traffic that every algorithm is shown, in terms of the limit: they are the same for any quota.

use tollgate::{Micros, Quota};

/// For how many windows requests arrive.
const WINDOWS: u64 = 3;

/// A kind of traffic.
pub(crate) struct Traffic {
    /// What its figure's file is called.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// When requests arrive, in order, if the limit is this and the first window begins at 0.
    pub(crate) arrivals: fn(Quota) -> Vec<Micros>,
}

pub(crate) const ALL: [Traffic; 5] = [
    Traffic {
        name: "steady",
        title: "Steady: half as much again as the limit",
        arrivals: steady,
    },
    Traffic {
        name: "burst",
        title: "Burst: two and a half limits at once, amid a trickle",
        arrivals: burst,
    },
    Traffic {
        name: "boundary",
        title: "Boundary: twice the limit, at an edge and off it",
        arrivals: boundary,
    },
    Traffic {
        name: "ramp",
        title: "Ramp: from nothing to three times the limit",
        arrivals: ramp,
    },
    Traffic {
        name: "on-off",
        title: "On and off: three times the limit, half of the time",
        arrivals: on_off,
    },
];

/// The quota's two numbers, as arithmetic needs them.
pub(crate) fn limit_and_window(quota: Quota) -> (u64, Micros) {
    (quota.limit().into(), quota.window().as_micros() as Micros)
}

/// So many requests, evenly from one moment until just before another.
fn evenly(count: u64, from: Micros, until: Micros) -> impl Iterator<Item = Micros> {
    (0..count).map(move |request| from + request * (until - from) / count)
}

fn steady(quota: Quota) -> Vec<Micros> {
    let (limit, window) = limit_and_window(quota);
    evenly(WINDOWS * limit * 3 / 2, 0, WINDOWS * window).collect()
}

fn burst(quota: Quota) -> Vec<Micros> {
    let (limit, window) = limit_and_window(quota);
    let trickle = evenly(WINDOWS * limit / 2, 0, WINDOWS * window);
    let burst = evenly(limit * 5 / 2, window * 12 / 10, window * 14 / 10);
    let mut arrivals: Vec<_> = trickle.chain(burst).collect();
    arrivals.sort_unstable();
    arrivals
}

fn boundary(quota: Quota) -> Vec<Micros> {
    let (limit, window) = limit_and_window(quota);
    let around = |middle| evenly(2 * limit, middle - window / 10, middle + window / 10);
    around(window).chain(around(window * 5 / 2)).collect()
}

/// The rate grows by one limit a window, so that `limit x t^2 / 2` requests have come after `t` windows.
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
