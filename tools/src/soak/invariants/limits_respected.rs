//! No limit is exceeded.
//!
//! Redis admits at most the limit in every window of a user, unless a restart or garbage under the key erased the count. A
//! process's own memory store loses no counts.

use std::collections::BTreeMap;

use tollgate::Micros;

use super::{
    Invariant, Run,
    windows::{Bound, Sum, Windows},
};
use crate::{
    answer::DecidedBy,
    fault_injector::{Lost, StateLoss},
    limits::{LIMIT, Mode, WINDOW},
    load::Record,
};

const BOUND: Bound = Bound {
    limit: LIMIT,
    window: WINDOW.as_micros() as Micros,
};

pub(super) fn check(run: &Run) -> Invariant {
    let mut violations = Vec::new();
    let mut redis = Sum::default();
    let by_user = |record: &Record| (record.mode, record.user, record.node);
    for ((mode, user, node), windows) in windows(&run.records, DecidedBy::Redis, by_user) {
        let subject = format!("user {user} of {} by Redis", mode.name());
        let lost = |open, next| {
            run.state_losses
                .iter()
                .any(|loss| loss.erased((mode, user, node), open, next))
        };
        redis.add(&windows, BOUND, lost, &subject, &mut violations);
    }
    let mut fallback = Sum::default();
    let by_process = |record: &Record| (record.process, record.user);
    for ((process, user), windows) in windows(&run.records, DecidedBy::Fallback, by_process) {
        let subject = format!("user {user} by the fallback of process {process}");
        fallback.add(&windows, BOUND, |_, _| false, &subject, &mut violations);
    }
    let restarts = run
        .state_losses
        .iter()
        .filter(|loss| matches!(loss.of, Lost::Node(_)))
        .count();
    let garbage = run.state_losses.len() - restarts;
    Invariant {
        description: "no limit is exceeded: Redis admits at most the limit in every window of a user, except where its count was \
                      erased, and each process's fallback at most as many again",
        checked: redis.windows + fallback.windows,
        measurements: vec![
            format!("by Redis: {redis}"),
            format!(
                "of these, {} opened early: {restarts} restarts and {garbage} keys with garbage erased counts",
                redis.early
            ),
            format!("by fallbacks: {fallback}"),
        ],
        violations,
    }
}

fn windows<K: Ord>(records: &[Record], decided_by: DecidedBy, key: impl Fn(&Record) -> K) -> BTreeMap<K, Windows> {
    let mut all = BTreeMap::<K, Windows>::new();
    for record in records {
        if let Ok(answer) = record.answer
            && answer.decided_by == decided_by
            && answer.admits
        {
            all.entry(key(record)).or_default().admit(answer.window, answer.opens);
        }
    }
    all
}

impl StateLoss {
    /// Whether a user's count, on this node, was erased between the openings of two windows.
    fn erased(&self, (mode, user, node): (Mode, usize, usize), open: Micros, next: Micros) -> bool {
        let is_of_user = match self.of {
            Lost::Node(lost) => lost == node,
            Lost::User(lost_mode, lost_user) => (lost_mode, lost_user) == (mode, user),
        };
        let (first, last) = self.between;
        is_of_user && open <= last && first <= next
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
