//! The worst-case deliberate traffic, found by exhaustive search.

use tollgate::{AnyAlgorithm, Micros};

use crate::{
    replay::{Replayed, max_in_any, replay},
    traffic::limit_and_window,
};

/// Candidate burst times per window. Every sub-window that is drawn begins at one of them.
const STEPS: u64 = 12;

/// Two bursts of `limit` requests each, and their replay.
pub(crate) struct Attack {
    pub(crate) bursts: [Micros; 2],
    pub(crate) requests: Vec<Replayed>,
}

/// Every pair of bursts at the steps of a window or up to two microseconds before them, within two windows of each other. Two
/// bursts are enough to reach every proven bound, as the figure shows.
pub(crate) fn attacks(algorithm: &AnyAlgorithm) -> impl Iterator<Item = Attack> {
    let (limit, window) = limit_and_window(algorithm.quota().expect("the plots are of limits with a window"));
    let instants = move |windows: u64| {
        let steps = (1..=windows * STEPS).map(move |step| step * window / STEPS);
        steps.flat_map(|step| [step - 2, step - 1, step])
    };
    let pairs = instants(1).flat_map(move |first| {
        let later = instants(3).filter(move |&second| first < second && second <= first + 2 * window);
        later.map(move |second| [first, second])
    });
    pairs.map(move |bursts| {
        let arrivals = bursts.iter().flat_map(|&at| std::iter::repeat_n(at, limit as usize));
        let arrivals: Vec<_> = arrivals.collect();
        let requests = replay(algorithm, &arrivals);
        Attack { bursts, requests }
    })
}

/// The first of the attacks that admit the most in one window, and that number.
pub(crate) fn worst(algorithm: &AnyAlgorithm) -> (u64, Attack) {
    let (_, window) = limit_and_window(algorithm.quota().expect("the plots are of limits with a window"));
    let tried = attacks(algorithm).map(|attack| (max_in_any(window, &attack.requests), attack));
    let worst = tried.reduce(|worst, next| if next.0 > worst.0 { next } else { worst });
    worst.expect("at least one attack")
}
