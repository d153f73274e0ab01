//! One shard: what is remembered of its keys, how they are charged, and which of them are forgotten.
//!
//! A key is due no later than it truly lapses. Whoever takes the head of the heap looks at the truth, and puts it back
//! if it was early. So a busy key costs the heap nothing while it is charged, and the head, once it is true, is the key
//! nearest to fresh: the one to sweep, and the one to forget when there is no more room.

use foldhash::quality::RandomState;

use super::entries::{Entries, Entry, HEAD};
use crate::{
    algorithm::{Algorithm, Mark, Rule, State},
    charge::Charge,
    key::Key,
    limit::Limit,
    quota::Cost,
    time::Micros,
    verdict::Verdict,
};

/// So few keys are not worth sweeping.
const FEW: usize = 4;

/// How many lapsed keys an operation may sweep: more than it adds as a rule, so that lapsed keys become fewer.
const SWEEP: usize = 2;

pub(super) struct Shard {
    entries: Entries,
    most: usize,
    sweeps: bool,
}

impl Shard {
    pub(super) fn new(most: usize, sweeps: bool, hasher: RandomState) -> Self {
        let entries = Entries::new(hasher);
        Self { entries, most, sweeps }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn state(&self, hash: u64, limit: &Limit, key: &Key) -> Option<&State> {
        let at = self.entries.find(hash, limit, key)?;
        Some(&self.entries.at(at).state)
    }

    /// What a charge of this cost would be told.
    pub(super) fn peek(&self, hash: u64, charge: &Charge, now: Micros, cost: Cost) -> Verdict {
        let state = self.state(hash, &charge.limit, &charge.key).unwrap_or(&State::Fresh);
        charge.limit.rule().peek(state, now, cost)
    }

    /// Takes a charge that a peek has admitted.
    pub(super) fn commit(&mut self, hash: u64, charge: &Charge, now: Micros) -> Mark {
        let Charge { limit, key, cost, .. } = charge;
        match self.entries.find(hash, limit, key) {
            Some(at) => {
                let mark = limit.rule().commit(&mut self.entries.at_mut(at).state, now, *cost);
                self.follow(at, limit);
                mark
            }
            None => {
                let mut state = State::Fresh;
                let mark = limit.rule().commit(&mut state, now, *cost);
                self.remember(hash, limit, key, state, now);
                mark
            }
        }
    }

    /// Peeks and, if that admits, commits: with one look-up, where there is only one charge.
    pub(super) fn acquire(
        &mut self,
        hash: u64,
        limit: &Limit,
        key: &Key,
        cost: Cost,
        now: Micros,
    ) -> (Verdict, Option<Mark>) {
        let Some(at) = self.entries.find(hash, limit, key) else {
            let mut state = State::Fresh;
            let decided = limit.rule().acquire(&mut state, now, cost);
            if decided.1.is_some() {
                self.remember(hash, limit, key, state, now);
            }
            return decided;
        };
        let entry = self.entries.at_mut(at);
        let decided = limit.rule().acquire(&mut entry.state, now, cost);
        if decided.1.is_some() {
            self.follow(at, limit);
        }
        decided
    }

    /// A charge never brings forward when a state lapses, but another version of the limit may.
    fn follow(&mut self, at: usize, limit: &Limit) {
        if self.entries.at_mut(at).limit.follow(limit) {
            self.bring_forward(at);
        }
    }

    /// Changes a key's state in any way, and keeps it only while it counts.
    pub(super) fn update(&mut self, hash: u64, charge: &Charge, now: Micros, change: impl FnOnce(&Rule, &mut State)) {
        let Charge { limit, key, .. } = charge;
        let Some(at) = self.entries.find(hash, limit, key) else {
            let mut state = State::Fresh;
            change(limit.rule(), &mut state);
            return self.remember(hash, limit, key, state, now);
        };
        let entry = self.entries.at_mut(at);
        entry.limit.follow(limit);
        let before = entry.expires_at();
        change(limit.rule(), &mut entry.state);
        let expires_at = entry.expires_at();
        if expires_at <= now && expires_at != before {
            self.entries.remove(at);
        } else {
            self.bring_forward(at);
        }
    }

    /// Sees to it that a key is due no later than it lapses.
    fn bring_forward(&mut self, at: usize) {
        let entry = self.entries.at(at);
        let expires_at = entry.expires_at();
        if expires_at < entry.due {
            self.entries.reschedule(at, expires_at);
        }
    }

    /// Adds a key whose state counts. Makes room first, so that it is never the newcomer who is forgotten.
    fn remember(&mut self, hash: u64, limit: &Limit, key: &Key, state: State, now: Micros) {
        let due = limit.rule().expires_at(&state);
        if due <= now {
            return;
        }
        while self.entries.len() >= self.most {
            self.take_head(Micros::MAX);
        }
        let (limit, key) = (limit.clone(), key.clone());
        self.entries.insert(hash, Entry { limit, key, state, due });
    }

    pub(super) fn remove(&mut self, hash: u64, charge: &Charge) {
        if let Some(at) = self.entries.find(hash, &charge.limit, &charge.key) {
            self.entries.remove(at);
        }
    }

    /// Removes a few keys that have lapsed, as every operation that comes by does.
    pub(super) fn sweep(&mut self, now: Micros) {
        for _ in 0..SWEEP {
            if !self.sweeps || self.entries.len() <= FEW || !self.take_head(now) {
                return;
            }
        }
        self.entries.shrink();
    }

    /// Removes the head if it has lapsed by `by`, puts it back if it was early, and tells whether it was due.
    fn take_head(&mut self, by: Micros) -> bool {
        let Some(head) = self.entries.head().filter(|head| head.due <= by) else {
            return false;
        };
        let expires_at = head.expires_at();
        if expires_at <= head.due {
            self.entries.remove(HEAD);
        } else {
            self.entries.reschedule(HEAD, expires_at);
        }
        true
    }
}
