//! One shard: a table of states, and a queue of when they are due to lapse.
//!
//! The queue serves the sweep and the bound alike. It holds each key at some time no later than the key's true expiry;
//! whoever takes a key from its head looks at the truth, and puts it back if it was early. So a busy key costs the
//! queue nothing while it is charged, and the head, once it is true, is the key nearest to fresh.

use std::{cmp::Reverse, collections::BinaryHeap};

use hashbrown::HashTable;

use crate::{
    algorithm::{Algorithm, Rule, State},
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
    entries: HashTable<Entry>,
    due: BinaryHeap<Reverse<(Micros, u64)>>,
    most: usize,
}

struct Entry {
    hash: u64,
    /// The limit by its latest version, which knows when the state lapses.
    limit: Limit,
    identity: Box<str>,
    state: State,
    /// Where it stands in the queue.
    due: Micros,
}

impl Entry {
    fn is(&self, limit: &Limit, key: &Key) -> bool {
        *self.identity == *key.as_str() && self.limit.counts_as(limit)
    }

    fn expires_at(&self) -> Micros {
        self.limit.rule().expires_at(&self.state)
    }
}

impl Shard {
    pub(super) fn new(most: usize) -> Self {
        Self {
            entries: HashTable::new(),
            due: BinaryHeap::new(),
            most,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn state(&self, hash: u64, limit: &Limit, key: &Key) -> Option<&State> {
        let entry = self.entries.find(hash, |entry| entry.is(limit, key));
        entry.map(|entry| &entry.state)
    }

    pub(super) fn peek(&self, hash: u64, limit: &Limit, key: &Key, now: Micros, cost: Cost) -> Verdict {
        match self.state(hash, limit, key) {
            Some(state) => limit.rule().peek(state, now, cost),
            None => limit.rule().peek(&State::Fresh, now, cost),
        }
    }

    /// Changes a key's state, and keeps it only while it counts.
    pub(super) fn update<T>(
        &mut self,
        hash: u64,
        limit: &Limit,
        key: &Key,
        now: Micros,
        change: impl FnOnce(&Rule, &mut State) -> T,
    ) -> T {
        match self.entries.find_entry(hash, |entry| entry.is(limit, key)) {
            Ok(mut place) => {
                let entry = place.get_mut();
                entry.limit.follow(limit);
                let before = entry.expires_at();
                let result = change(limit.rule(), &mut entry.state);
                let expires_at = entry.expires_at();
                if expires_at <= now && expires_at != before {
                    place.remove();
                } else if expires_at < entry.due {
                    entry.due = expires_at;
                    self.due.push(Reverse((expires_at, hash)));
                }
                result
            }
            Err(_) => {
                let mut state = State::Fresh;
                let result = change(limit.rule(), &mut state);
                let due = limit.rule().expires_at(&state);
                if due > now {
                    self.insert(Entry {
                        hash,
                        limit: limit.clone(),
                        identity: key.as_str().into(),
                        state,
                        due,
                    });
                }
                result
            }
        }
    }

    /// Makes room first, so that it is never the newcomer who is forgotten.
    fn insert(&mut self, entry: Entry) {
        while self.entries.len() >= self.most {
            self.take_head(Micros::MAX);
        }
        self.due.push(Reverse((entry.due, entry.hash)));
        self.entries.insert_unique(entry.hash, entry, |entry| entry.hash);
    }

    pub(super) fn remove(&mut self, hash: u64, limit: &Limit, key: &Key) {
        if let Ok(place) = self.entries.find_entry(hash, |entry| entry.is(limit, key)) {
            place.remove();
        }
    }

    /// Removes a few keys that have lapsed, as every operation that comes by does.
    pub(super) fn sweep(&mut self, now: Micros) {
        for _ in 0..SWEEP {
            if self.entries.len() > FEW {
                self.take_head(now);
            }
        }
        self.shrink();
    }

    /// Takes the head of the queue if it is due by `by`, and removes its key if that has truly lapsed by then.
    fn take_head(&mut self, by: Micros) {
        let Some(&Reverse((due, hash))) = self.due.peek().filter(|Reverse((due, _))| *due <= by) else {
            return;
        };
        self.due.pop();
        // A key that was removed, or moved ahead in the queue, leaves its old place behind, which fits no entry.
        let found = self
            .entries
            .find_entry(hash, |entry| entry.hash == hash && entry.due == due);
        if let Ok(mut place) = found {
            let expires_at = place.get().expires_at();
            if expires_at <= due {
                place.remove();
            } else {
                place.get_mut().due = expires_at;
                self.due.push(Reverse((expires_at, hash)));
            }
        }
    }

    /// Gives memory back after a flood, and forgets places that fit no entry once they are the many.
    fn shrink(&mut self) {
        let len = self.entries.len().max(64);
        if self.entries.capacity() > 8 * len {
            self.entries.shrink_to(2 * len, |entry| entry.hash);
            self.due.shrink_to(2 * len);
        }
        if self.due.len() > 4 * len {
            self.due = self
                .entries
                .iter()
                .map(|entry| Reverse((entry.due, entry.hash)))
                .collect();
        }
    }
}
