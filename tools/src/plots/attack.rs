//! The worst that a client can do on purpose, found by trying.

use tollgate::{Micros, Rule};

use crate::{
    replay::{Seen, most_in_any, replay},
    traffic::limit_and_window,
};

/// A window is tried at so many places. Every sub-window that is drawn begins at one of them.
const PLACES: u64 = 12;

/// Two bursts of as many requests as the limit has, and what came of them.
pub(crate) struct Attack {
    pub(crate) bursts: [Micros; 2],
    pub(crate) seen: Vec<Seen>,
}

/// Every pair of bursts at the places of a window and up to two microseconds before them, within two windows of each
/// other. Two are enough to reach every bound that is proven: the figure has both.
pub(crate) fn attacks(rule: &Rule) -> impl Iterator<Item = Attack> {
    let (limit, window) = limit_and_window(rule.quota());
    let instants = move |windows: u64| {
        let places = (1..=windows * PLACES).map(move |place| place * window / PLACES);
        places.flat_map(|place| [place - 2, place - 1, place])
    };
    let pairs = instants(1).flat_map(move |first| {
        let later = instants(3).filter(move |&second| first < second && second <= first + 2 * window);
        later.map(move |second| [first, second])
    });
    pairs.map(move |bursts| {
        let requests = bursts.iter().flat_map(|&at| std::iter::repeat_n(at, limit as usize));
        let arrivals: Vec<_> = requests.collect();
        let seen = replay(rule, &arrivals);
        Attack { bursts, seen }
    })
}

/// The first of those that let the most through in a window.
pub(crate) fn worst(rule: &Rule) -> (u64, Attack) {
    let (_, window) = limit_and_window(rule.quota());
    let tried = attacks(rule).map(|attack| (most_in_any(window, &attack.seen), attack));
    let worst = tried.reduce(|worst, next| if next.0 > worst.0 { next } else { worst });
    worst.expect("there are attacks")
}
