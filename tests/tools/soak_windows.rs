//! The soak test's window accounting: it reports exceeded limits, and no others.

#[path = "../../tools/src/soak/invariants/windows.rs"]
mod windows;

use windows::{Bound, Sum, Windows};

/// Three requests per hundred microseconds.
const BOUND: Bound = Bound { limit: 3, window: 100 };

/// Each admission: when its window opened, and whether the request reports that it opened the window.
fn sum(admitted: &[(u64, bool)], forgotten: bool) -> (Sum, Vec<String>) {
    let mut windows = Windows::default();
    admitted.iter().for_each(|(at, opens)| windows.admit(*at, *opens));
    let (mut sum, mut broken) = (Sum::default(), Vec::new());
    sum.add(&windows, BOUND, |_, _| forgotten, "user 1", &mut broken);
    (sum, broken)
}

#[test]
fn a_kept_limit_is_not_reported() {
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
fn an_exceeded_window_is_reported() {
    let (_, broken) = sum(&[(0, true), (0, false), (0, false), (0, false)], false);
    assert_eq!(broken, ["4 requests of user 1 in the window of 0"]);
}

#[test]
fn an_early_window_is_reported() {
    let admitted = [(0, true), (0, false), (99, true)];
    let (_, broken) = sum(&admitted, false);
    assert_eq!(broken, ["a window of user 1 opened at 99, and one was open since 0"]);
    // Unless the store has lost the previous window.
    assert_eq!(sum(&admitted, true).1, [""; 0]);
}

/// Its clock was read a moment before that of the request that opened the window.
#[test]
fn a_request_with_a_time_before_its_window_is_counted_in_it() {
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
