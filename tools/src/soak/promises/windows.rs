//! Admissions of one limit for one user, by window.
//!
//! A window of an anchored limit opens with the first request that it admits, and every admission tells when that was. So
//! admissions are counted by window, exactly. No window may admit more than the limit, and none may open while
//! another one of the same user is open, unless the store was made to forget that one.
//!
//! A process reads its clock before it takes the lock, so a request can be counted in a window that another one opened
//! a moment after its own time. It then reports that time as the window's: such requests belong to the next window.

use std::collections::BTreeMap;

use tollgate::Micros;

/// What is allowed: so many in so long.
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
    /// Those at the time at which it opened, or at which they say so.
    at_its_start: u32,
}

impl Windows {
    /// A request was admitted in the window that opened at this time, and perhaps opened it.
    pub(crate) fn admit(&mut self, window: Micros, opens: bool) {
        let admitted = self.0.entry(window).or_default();
        admitted.all += 1;
        admitted.at_its_start += u32::from(opens);
    }
}

/// What windows amount to.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Sum {
    pub(crate) windows: usize,
    pub(crate) admitted: u32,
    pub(crate) fullest: u32,
    pub(crate) early: usize,
}

impl Sum {
    /// Adds the windows of one user. `forgotten` says whether the store was made to forget the user between two openings.
    pub(crate) fn add(
        &mut self,
        Windows(windows): &Windows,
        Bound { limit, window }: Bound,
        forgotten: impl Fn(Micros, Micros) -> bool,
        who: &str,
        broken: &mut Vec<String>,
    ) {
        let mut open = None;
        // Admissions that may belong to the next window.
        let mut before = 0;
        for (&start, admitted) in windows {
            self.windows += 1;
            let mut count = admitted.all;
            if let Some(open) = open.filter(|open| start < open + window) {
                self.early += 1;
                if !forgotten(open, start) {
                    if before == 0 {
                        broken.push(format!(
                            "a window of {who} opened at {start}, and one was open since {open}"
                        ));
                    }
                    self.windows -= 1;
                    count += before;
                }
            }
            self.admitted += admitted.all;
            self.fullest = self.fullest.max(count);
            if count > limit {
                broken.push(format!("{count} requests of {who} in the window of {start}"));
            }
            before = if admitted.all == admitted.at_its_start {
                count
            } else {
                0
            };
            open = Some(start);
        }
    }
}
