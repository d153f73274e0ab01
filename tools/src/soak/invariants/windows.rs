//! Admissions of one limit for one user, by window.
//!
//! A window of an anchored limit opens with the first request that it admits, and every admission reports when that was. So
//! admissions can be counted by window, exactly. No window may admit more than the limit, and none may open while another window
//! of the same user is open, unless the store lost that window's count.
//!
//! A process reads its clock before it takes the lock, so a request can be counted in a window that another request opened
//! slightly later. It then reports its own time as the window's: such requests belong to the next window.

use std::collections::BTreeMap;

use tollgate::Micros;

/// At most `limit` admissions per `window`.
#[derive(Clone, Copy)]
pub(crate) struct Bound {
    pub(crate) limit: u32,
    pub(crate) window: Micros,
}

#[derive(Default)]
pub(crate) struct Windows(BTreeMap<Micros, Admitted>);

/// The admissions of one window.
#[derive(Default)]
struct Admitted {
    all: u32,
    /// Those that report the start of the window as the time of their decision.
    at_start: u32,
}

impl Windows {
    /// Adds a request that was admitted in the window that opened at this time. `opens`: at the time of its decision.
    pub(crate) fn admit(&mut self, window: Micros, opens: bool) {
        let admitted = self.0.entry(window).or_default();
        admitted.all += 1;
        admitted.at_start += u32::from(opens);
    }
}

/// Totals over windows.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Sum {
    pub(crate) windows: usize,
    pub(crate) admitted: u32,
    pub(crate) fullest: u32,
    pub(crate) early: usize,
}

impl Sum {
    /// Adds the windows of one user. `lost` returns whether the store lost the user's count between two openings.
    pub(crate) fn add(
        &mut self,
        Windows(windows): &Windows,
        Bound { limit, window }: Bound,
        lost: impl Fn(Micros, Micros) -> bool,
        user: &str,
        violations: &mut Vec<String>,
    ) {
        let mut open = None;
        // Admissions that may belong to the next window.
        let mut before = 0;
        for (&start, admitted) in windows {
            self.windows += 1;
            let mut count = admitted.all;
            if let Some(open) = open.filter(|open| start < open + window) {
                self.early += 1;
                if !lost(open, start) {
                    if before == 0 {
                        violations.push(format!(
                            "a window of {user} opened at {start}, and one was open since {open}"
                        ));
                    }
                    self.windows -= 1;
                    count += before;
                }
            }
            self.admitted += admitted.all;
            self.fullest = self.fullest.max(count);
            if count > limit {
                violations.push(format!("{count} requests of {user} in the window of {start}"));
            }
            before = if admitted.all == admitted.at_start { count } else { 0 };
            open = Some(start);
        }
    }
}
