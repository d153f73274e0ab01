//! One shard: charging its keys, sweeping expired ones, and evicting when it is full.
//!
//! An entry's due time is never later than its expiry, and earlier if the key was charged again: charging a key does not touch the
//! heap. A head that is due before its expiry is rescheduled, so a head whose due time is its expiry is the key that expires next: the
//! one to sweep, and the one to evict when the shard is full.
//!
//! If all keys of a full shard were charged again, all of them have to be rescheduled to find the one to evict. No operation waits for
//! that: a new key is added before another is evicted, and later operations continue.

use foldhash::quality::RandomState;

use super::indexed_heap::{Entry, Found, HEAD, IndexedHeap};
use crate::{
    algorithm::{Algorithm, AnyAlgorithm, Mark, NEVER, State},
    charge::Charge,
    key::Key,
    limit::Limit,
    quota::Cost,
    receipt::Charged,
    time::Micros,
    verdict::Verdict,
};

/// A shard with at most this many keys is not swept.
const MIN_SWEEP_LEN: usize = 4;

/// The maximal number of keys that an operation sweeps, or reschedules for an eviction: usually more than it adds or charges, so that
/// neither accumulate.
const MAX_SWEPT: usize = 2;

/// The maximal number of keys that an insert into a full shard reschedules or evicts. Each takes about a microsecond, or two if
/// it is not in the CPU's caches.
const MAX_EVICTION_STEPS: usize = 32;

/// By which share of its keys a shard may exceed its bound while an eviction continues. An insert that evicts nothing has rescheduled
/// 32 keys, so each has been before there are a 32nd more, unless requests charge more than two keys of a shard at once.
const RESERVE: usize = 16;

pub(super) struct Shard {
    heap: IndexedHeap,
    max_keys: usize,
    sweeps: bool,
}

impl Shard {
    pub(super) fn new(max_keys: usize, sweeps: bool, hasher: RandomState) -> Self {
        let heap = IndexedHeap::new(hasher);
        Self { heap, max_keys, sweeps }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(super) fn state(&self, hash: u64, limit: &Limit, key: &Key) -> Option<&State> {
        let position = self.heap.find(hash, limit, key)?;
        Some(&self.heap.entry(position).state)
    }

    /// The verdict about a charge of this cost, and the position of its key for a commit.
    #[inline]
    pub(super) fn peek(&self, hash: u64, charge: &Charge, now: Micros, cost: Cost) -> (Verdict, Found) {
        let found = self.heap.find_first(hash, &charge.limit, &charge.key);
        let state = found
            .position
            .map_or(&State::Fresh, |position| &self.heap.entry(position).state);
        (charge.limit.algorithm().peek(state, now, cost), found)
    }

    /// Applies a charge that a peek has admitted.
    #[inline]
    pub(super) fn commit(&mut self, hash: u64, found: Found, charge: &Charge, now: Micros) -> Mark {
        let Charge { limit, key, cost, .. } = charge;
        match self.heap.find_again(found, hash, limit, key) {
            Some(position) => {
                let state = &mut self.heap.entry_mut(position).state;
                let mark = limit.algorithm().commit(state, now, *cost);
                self.update_limit(position, limit);
                mark
            }
            None => {
                let mut state = State::Fresh;
                let mark = limit.algorithm().commit(&mut state, now, *cost);
                self.insert_with_eviction(hash, limit, key, state, now);
                mark
            }
        }
    }

    /// Peeks and, if the charge is admitted, commits, with one lookup.
    #[inline]
    pub(super) fn acquire(
        &mut self,
        hash: u64,
        limit: &Limit,
        key: &Key,
        cost: Cost,
        now: Micros,
    ) -> (Verdict, Option<Mark>) {
        let Some(position) = self.heap.find(hash, limit, key) else {
            let mut state = State::Fresh;
            let decided = limit.algorithm().acquire(&mut state, now, cost);
            if decided.1.is_some() {
                self.insert_with_eviction(hash, limit, key, state, now);
            }
            return decided;
        };
        let entry = self.heap.entry_mut(position);
        let decided = limit.algorithm().acquire(&mut entry.state, now, cost);
        if decided.1.is_some() {
            self.update_limit(position, limit);
        }
        decided
    }

    /// Stores the latest version of the limit. A charge never makes a state expire earlier, but another version may.
    #[inline]
    fn update_limit(&mut self, position: usize, limit: &Limit) {
        if self.heap.entry_mut(position).limit.update_to(limit) {
            self.reschedule_earlier(position);
        }
    }

    /// Corrects a charge to its true cost. Returns the verdict about a cost of 0.
    pub(super) fn settle(&mut self, hash: u64, charged: &Charged, now: Micros) -> Verdict {
        let Charged { charge, mark, .. } = charged;
        let mut verdict = None;
        self.update(hash, charge, now, |algorithm, state| {
            algorithm.settle(state, now, *mark, charge.cost, charged.to());
            verdict = Some(algorithm.peek(state, now, 0));
        });
        verdict.expect("a state is always changed")
    }

    /// Changes a key's state, and removes the key if that makes it expire.
    pub(super) fn update(
        &mut self,
        hash: u64,
        charge: &Charge,
        now: Micros,
        change: impl FnOnce(&AnyAlgorithm, &mut State),
    ) {
        let Charge { limit, key, .. } = charge;
        let Some(position) = self.heap.find(hash, limit, key) else {
            let mut state = State::Fresh;
            change(limit.algorithm(), &mut state);
            return self.insert_with_eviction(hash, limit, key, state, now);
        };
        let entry = self.heap.entry_mut(position);
        let (before, bucket) = (entry.expires_at(), entry.state.bucket());
        change(limit.algorithm(), &mut entry.state);
        // A receipt may be of an earlier version, under which a bucket that it does not change could expire sooner.
        if bucket.is_some() && entry.state.bucket() == bucket {
            return;
        }
        entry.limit.update_to(limit);
        let expires_at = entry.expires_at();
        if expires_at <= now && expires_at != before {
            self.heap.remove(position);
        } else if expires_at < entry.due {
            self.heap.reschedule(position, expires_at);
        }
    }

    /// Moves the due time of an entry forward if it is later than its expiry.
    fn reschedule_earlier(&mut self, position: usize) {
        let entry = self.heap.entry(position);
        let expires_at = entry.expires_at();
        if expires_at < entry.due {
            self.heap.reschedule(position, expires_at);
        }
    }

    /// Adds a key, unless its state has expired. A full shard evicts first, so that it never evicts the new key.
    fn insert_with_eviction(&mut self, hash: u64, limit: &Limit, key: &Key, state: State, now: Micros) {
        let due = limit.algorithm().expires_at(&state);
        if due <= now {
            return;
        }
        self.evict();
        let (limit, key) = (limit.clone(), key.clone());
        self.heap.insert(hash, Entry { limit, key, state, due });
    }

    /// Evicts until there is room for one key, or leaves that to later operations. Keys that are held are not evicted.
    fn evict(&mut self) {
        let mut steps = 0;
        while self.heap.len() >= self.max_keys {
            let is_reserve_used = self.heap.len() >= self.max_keys + self.max_keys / RESERVE;
            // What is held of concurrency limits is bounded by the requests that are served.
            let is_held = self.heap.head().is_some_and(|head| head.due >= NEVER);
            if steps >= MAX_EVICTION_STEPS && !is_reserve_used || is_held {
                return;
            }
            self.reschedule_or_pop_head();
            steps += 1;
        }
    }

    pub(super) fn remove(&mut self, hash: u64, charge: &Charge) {
        if let Some(position) = self.heap.find(hash, &charge.limit, &charge.key) {
            self.heap.remove(position);
        }
    }

    /// Removes a few expired keys. Every operation calls it.
    #[inline]
    pub(super) fn sweep(&mut self, now: Micros) {
        if self.heap.len() > self.max_keys {
            self.continue_eviction();
        } else if self.heap.head_due() <= now && self.sweeps {
            self.remove_expired(now);
        }
    }

    /// Reschedules a few keys, so that the next insert finds the ones to evict. It evicts none: that could be the key just added.
    #[cold]
    fn continue_eviction(&mut self) {
        for _ in 0..MAX_SWEPT {
            self.reschedule_head();
        }
    }

    #[cold]
    fn remove_expired(&mut self, now: Micros) {
        for _ in 0..MAX_SWEPT {
            if self.heap.len() <= MIN_SWEEP_LEN || self.heap.head_due() > now {
                return;
            }
            self.reschedule_or_pop_head();
        }
        self.heap.shrink();
    }

    /// Reschedules the head if it expires later than it is due, otherwise removes it.
    fn reschedule_or_pop_head(&mut self) {
        if !self.reschedule_head() {
            self.heap.remove(HEAD);
        }
    }

    /// Reschedules the head if it expires later than it is due, and returns whether it does.
    fn reschedule_head(&mut self) -> bool {
        let stale = self.heap.head().map(|head| (head.due, head.expires_at()));
        let Some((_, expires_at)) = stale.filter(|(due, expires_at)| due < expires_at) else {
            return false;
        };
        self.heap.reschedule(HEAD, expires_at);
        true
    }
}
