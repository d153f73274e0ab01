//! No limit is exceeded.
//!
//! A window of an anchored limit opens with the first request that it admits, and every admission tells when that was. So
//! admissions are counted by window, exactly. No window may admit more than the limit, and none may open while
//! another one of the same user is open, unless Redis was made to forget that one: by a restart, or by garbage under
//! its key. Together these are the bound: the limit, per window and lifetime. What a process counts by itself, nobody
//! makes it forget.
//!
//! A process reads its clock before it takes the lock, so a request can be counted in a window that another one opened
//! a moment after its own time. It then reports that time as the window's: such requests belong to the next window.

use std::collections::BTreeMap;

use tollgate::Micros;

use super::{promise::Promise, run::Run};
use crate::{
    answer::By,
    limits::{LIMIT, Mode, WINDOW},
    load::Record,
};

/// The admissions of one limit for one user, by window.
type Windows = BTreeMap<Micros, Admitted>;

/// The admissions of one window.
#[derive(Default)]
struct Admitted {
    all: u32,
    /// Those at the time at which it opened, or at which they say so.
    at_its_start: u32,
}

/// What windows amount to.
#[derive(Default)]
struct Sum {
    windows: usize,
    admitted: u32,
    fullest: u32,
    early: usize,
}

pub(super) fn promise(run: &Run) -> Promise {
    let mut broken = Vec::new();
    let mut shared = Sum::default();
    for ((mode, user), windows) in windows(&run.records, By::Redis, |record| (record.mode, record.user)) {
        let who = format!("user {user} of {} by Redis", mode.name());
        let forgotten = |open, next| was_forgotten(run, (mode, user), open, next);
        shared.add(&windows, forgotten, &who, &mut broken);
    }
    let mut own = Sum::default();
    for ((process, user), windows) in windows(&run.records, By::Fallback, |record| (record.process, record.user)) {
        let who = format!("user {user} by the fallback of process {process}");
        own.add(&windows, |_, _| false, &who, &mut broken);
    }
    let restarts = run.forgotten.iter().filter(|forgotten| forgotten.of.is_none()).count();
    let planted = run.forgotten.len() - restarts;
    Promise {
        words: "no limit is exceeded: Redis admits at most the limit in every window of a user, counted anew only if it was made \
                to forget, and a process that falls back at most as many again",
        figures: vec![
            format!("by Redis {shared}"),
            format!(
                "of these, {} opened early: {restarts} restarts and {planted} keys with garbage began new lifetimes",
                shared.early
            ),
            format!("by fallbacks {own}"),
        ],
        broken,
    }
}

fn windows<K: Ord>(records: &[Record], by: By, key: impl Fn(&Record) -> K) -> BTreeMap<K, Windows> {
    let mut all = BTreeMap::<K, Windows>::new();
    for record in records {
        if let Ok(answer) = record.answer
            && answer.by == by
            && answer.admits
        {
            let admitted = all.entry(key(record)).or_default().entry(answer.window).or_default();
            admitted.all += 1;
            admitted.at_its_start += u32::from(answer.opens);
        }
    }
    all
}

/// Whether Redis was made to forget a user between the openings of two windows.
fn was_forgotten(run: &Run, who: (Mode, usize), open: Micros, next: Micros) -> bool {
    run.forgotten.iter().any(|forgotten| {
        let (first, last) = forgotten.between;
        forgotten.of.is_none_or(|of| of == who) && open <= last && first <= next
    })
}

impl Sum {
    fn add(
        &mut self,
        windows: &Windows,
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
            if let Some(open) = open.filter(|open| start < open + WINDOW.as_micros() as Micros) {
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
            if count > LIMIT {
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

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            windows,
            admitted,
            fullest,
            ..
        } = self;
        let bound = *windows as u64 * u64::from(LIMIT);
        write!(
            f,
            "{admitted} requests in {windows} windows, whose bound is {bound}; {fullest} in the fullest, of {LIMIT}"
        )
    }
}
