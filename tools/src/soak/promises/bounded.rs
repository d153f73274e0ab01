//! No limit is exceeded.
//!
//! Redis admits at most the limit in every window of a user, unless it was made to forget: by a restart, or by garbage under its
//! key. What a process counts by itself, nobody makes it forget.

use std::collections::BTreeMap;

use tollgate::Micros;

use super::{
    promise::Promise,
    run::Run,
    windows::{Bound, Sum, Windows},
};
use crate::{
    answer::By,
    limits::{LIMIT, Mode, WINDOW},
    load::Record,
};

const BOUND: Bound = Bound {
    limit: LIMIT,
    window: WINDOW.as_micros() as Micros,
};

pub(super) fn promise(run: &Run) -> Promise {
    let mut broken = Vec::new();
    let mut shared = Sum::default();
    for ((mode, user), windows) in windows(&run.records, By::Redis, |record| (record.mode, record.user)) {
        let who = format!("user {user} of {} by Redis", mode.name());
        let forgotten = |open, next| was_forgotten(run, (mode, user), open, next);
        shared.add(&windows, BOUND, forgotten, &who, &mut broken);
    }
    let mut own = Sum::default();
    for ((process, user), windows) in windows(&run.records, By::Fallback, |record| (record.process, record.user)) {
        let who = format!("user {user} by the fallback of process {process}");
        own.add(&windows, BOUND, |_, _| false, &who, &mut broken);
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
            all.entry(key(record)).or_default().admit(answer.window, answer.opens);
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
