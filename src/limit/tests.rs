//! Tests of `limit`.

use super::*;
use crate::{algorithm::FixedWindow, quota::Quota};

/// As a service has that changes its rules every second for a day.
#[test]
fn any_number_of_versions_is_dropped_at_once() {
    let first = Limit::new("user", FixedWindow::new(Quota::per_minute(10)));
    let mut last = first.clone();
    for _ in 0..100_000 {
        let version = Limit::new("user", FixedWindow::new(Quota::per_minute(10)));
        last.replaced_by(&version);
        last = version;
    }
    let mut charged = first.clone();
    charged.update();
    assert!(Arc::ptr_eq(&charged.0, &last.0));
    drop((charged, last, first));
}
