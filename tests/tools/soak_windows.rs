//! How the soak counts: it reports a limit that is exceeded, and no other.

#[path = "../../tools/src/soak/promises/windows.rs"]
mod windows;

use windows::{Bound, Sum, Windows};

/// Three in a hundred microseconds.
const BOUND: Bound = Bound { limit: 3, window: 100 };

/// Each admission: when its window opened, and whether it says that it opened it.
fn sum(admitted: &[(u64, bool)], forgotten: bool) -> (Sum, Vec<String>) {
    let mut windows = Windows::default();
    admitted.iter().for_each(|(at, opens)| windows.admit(*at, *opens));
    let (mut sum, mut broken) = (Sum::default(), Vec::new());
    sum.add(&windows, BOUND, |_, _| forgotten, "user 1", &mut broken);
    (sum, broken)
}

#[test]
fn a_limit_that_is_kept() {
    let admitted = [(0, true), (0, false), (0, false), (100, true)];
    let whole = Sum {
        windows: 2,
        admitted: 4,
        fullest: 3,
        early: 0,
    };
    assert_eq!(sum(&admitted, false), (whole, vec![]));
}

#[test]
fn one_too_many_in_a_window() {
    let (_, broken) = sum(&[(0, true), (0, false), (0, false), (0, false)], false);
    assert_eq!(broken, ["4 requests of user 1 in the window of 0"]);
}

#[test]
fn a_window_that_opens_too_early() {
    let admitted = [(0, true), (0, false), (99, true)];
    let (_, broken) = sum(&admitted, false);
    assert_eq!(broken, ["a window of user 1 opened at 99, and one was open since 0"]);
    // Unless the store was made to forget the one before.
    assert_eq!(sum(&admitted, true).1, [""; 0]);
}

/// Its clock was read a moment before the one that opened the window, in which it was counted.
#[test]
fn a_request_that_reports_a_time_before_its_window() {
    let admitted = [(0, true), (7, true), (7, false)];
    let whole = Sum {
        windows: 1,
        admitted: 3,
        fullest: 3,
        early: 1,
    };
    assert_eq!(sum(&admitted, false), (whole, vec![]));
    let (_, broken) = sum(&[(0, true), (7, true), (7, false), (7, false)], false);
    assert_eq!(broken, ["4 requests of user 1 in the window of 7"]);
}
