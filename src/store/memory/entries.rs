//! The keys of a shard, side by side in one block of memory: found by whom they count, and in order of when they are due.
//!
//! The block is a binary heap, so the key that is due first is at its head; the index tells where in the heap a key is.
//! A key that moves in the heap is moved in the index, and so it has one place in each, always.

use std::hash::BuildHasher;

use foldhash::quality::RandomState;
use hashbrown::HashTable;

use crate::{
    algorithm::{Algorithm, State},
    key::Key,
    limit::Limit,
    time::Micros,
};

/// In the index, the place of an entry that is on its way.
const MOVING: u32 = u32::MAX;

/// Where the entry that is due first is.
pub(super) const HEAD: usize = 0;

pub(super) struct Entries {
    heap: Vec<Entry>,
    index: HashTable<u32>,
    hasher: RandomState,
}

pub(super) struct Entry {
    /// The limit by its latest version, which knows when the state lapses.
    pub(super) limit: Limit,
    pub(super) key: Key,
    pub(super) state: State,
    /// What the heap goes by: no later than when the state lapses.
    pub(super) due: Micros,
}

impl Entry {
    pub(super) fn expires_at(&self) -> Micros {
        self.limit.rule().expires_at(&self.state)
    }

    fn hash(&self, hasher: &RandomState) -> u64 {
        hash(hasher, &self.limit, &self.key)
    }
}

/// By what a key is looked up. Versions of one limit have one.
pub(super) fn hash(hasher: &RandomState, limit: &Limit, key: &Key) -> u64 {
    hasher.hash_one((limit.shape_hash(), key.as_str()))
}

impl Entries {
    /// None yet; they are hashed as whoever looks them up does.
    pub(super) fn new(hasher: RandomState) -> Self {
        Self {
            heap: Vec::new(),
            index: HashTable::new(),
            hasher,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }

    pub(super) fn head(&self) -> Option<&Entry> {
        self.heap.first()
    }

    pub(super) fn find(&self, hash: u64, limit: &Limit, key: &Key) -> Option<usize> {
        let is_it = |&at: &u32| {
            let entry = &self.heap[at as usize];
            entry.key == *key && entry.limit.counts_as(limit)
        };
        self.index.find(hash, is_it).map(|&at| at as usize)
    }

    pub(super) fn at(&self, at: usize) -> &Entry {
        &self.heap[at]
    }

    pub(super) fn at_mut(&mut self, at: usize) -> &mut Entry {
        &mut self.heap[at]
    }

    pub(super) fn insert(&mut self, hash: u64, entry: Entry) {
        let at = self.heap.len();
        if at == self.heap.capacity() {
            // By an eighth: most of the memory is here, and doubling would leave up to half of it unused.
            self.heap.reserve_exact(at / 8 + 4);
        }
        self.heap.push(entry);
        let (heap, hasher) = (&self.heap, &self.hasher);
        self.index
            .insert_unique(hash, MOVING, |&at| heap[at as usize].hash(hasher));
        self.settle(at);
    }

    pub(super) fn remove(&mut self, at: usize) {
        let last = self.heap.len() - 1;
        self.place(at, MOVING);
        let hash = self.heap[at].hash(&self.hasher);
        if let Ok(place) = self.index.find_entry(hash, |&at| at == MOVING) {
            place.remove();
        }
        if at != last {
            self.place(last, MOVING);
        }
        self.heap.swap_remove(at);
        if at != last {
            self.settle(at);
        }
    }

    /// Gives an entry another due time.
    pub(super) fn reschedule(&mut self, at: usize, due: Micros) {
        self.heap[at].due = due;
        self.place(at, MOVING);
        self.settle(at);
    }

    /// Gives memory back once most of it is unused.
    pub(super) fn shrink(&mut self) {
        let len = self.heap.len().max(64);
        if self.heap.capacity() > 8 * len {
            self.heap.shrink_to(2 * len);
            let (heap, hasher) = (&self.heap, &self.hasher);
            self.index.shrink_to(2 * len, |&at| heap[at as usize].hash(hasher));
        }
    }

    /// Moves an entry that is on its way to where its due time belongs: towards the head, or away from it.
    fn settle(&mut self, mut at: usize) {
        while at > HEAD && self.heap[at].due < self.heap[parent(at)].due {
            at = self.swap(at, parent(at));
        }
        while let Some(child) = self
            .earlier_child(at)
            .filter(|&child| self.heap[child].due < self.heap[at].due)
        {
            at = self.swap(at, child);
        }
        let hash = self.heap[at].hash(&self.hasher);
        self.set(hash, MOVING, at as u32);
    }

    /// Swaps the entry on its way with another, and tells where the former is now.
    fn swap(&mut self, moving: usize, other: usize) -> usize {
        self.place(other, moving as u32);
        self.heap.swap(moving, other);
        other
    }

    fn earlier_child(&self, at: usize) -> Option<usize> {
        let children = [2 * at + 1, 2 * at + 2].into_iter();
        children
            .filter(|&child| child < self.heap.len())
            .min_by_key(|&child| self.heap[child].due)
    }

    /// Notes where an entry is going to be.
    fn place(&mut self, at: usize, to: u32) {
        let hash = self.heap[at].hash(&self.hasher);
        self.set(hash, at as u32, to);
    }

    fn set(&mut self, hash: u64, from: u32, to: u32) {
        let place = self.index.find_mut(hash, |&at| at == from);
        *place.expect("every entry is in the index") = to;
    }
}

fn parent(at: usize) -> usize {
    (at - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{algorithm::TokenBucket, quota::Quota};

    /// Keys come, go and change their due times in an order that never repeats; after each, all are where they belong.
    #[test]
    fn every_key_has_its_place_in_the_heap_and_in_the_index() {
        let limit = Limit::new("user", TokenBucket::new(Quota::per_second(1)));
        let mut entries = Entries::new(RandomState::default());
        let mut random: u64 = 42;
        for turn in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (key, due) = (Key::new(format!("{}", (random >> 32) % 300)), random >> 50);
            let hash = hash(&entries.hasher, &limit, &key);
            match entries.find(hash, &limit, &key) {
                Some(at) if turn % 3 == 0 => entries.remove(at),
                Some(at) => entries.reschedule(at, due),
                None => entries.insert(
                    hash,
                    Entry {
                        limit: limit.clone(),
                        key,
                        state: State::Fresh,
                        due,
                    },
                ),
            }
            if turn % 50 == 0 {
                assert_eq!(entries.index.len(), entries.heap.len());
                for (at, entry) in entries.heap.iter().enumerate() {
                    assert_eq!(entries.find(entry.hash(&entries.hasher), &limit, &entry.key), Some(at));
                    assert!(at == HEAD || entries.heap[parent(at)].due <= entry.due);
                }
            }
        }
        while entries.len() > 0 {
            entries.remove(entries.len() / 2);
            entries.shrink();
        }
        assert!(entries.heap.capacity() <= 512 && entries.index.is_empty());
    }
}
