//! The keys of a shard: a binary heap ordered by due time, and an index of the positions in it.
//!
//! The heap is one contiguous array of entries, with the entry that is due first at its head. The index maps a key to its
//! position in the array. Every move in the heap updates the index, so each key has exactly one position in both.

use std::hash::BuildHasher;

use foldhash::quality::RandomState;
use hashbrown::HashTable;

use crate::{
    algorithm::{Algorithm, State},
    key::Key,
    limit::Limit,
    time::Micros,
};

/// In the index, the position of an entry that is being moved.
const IN_TRANSIT: u32 = u32::MAX;

/// The position of the entry that is due first.
pub(super) const HEAD: usize = 0;

pub(super) struct IndexedHeap {
    entries: Vec<Entry>,
    index: HashTable<u32>,
    hasher: RandomState,
    /// The due time of the head, or the end of time without one. Every operation compares it, and the head itself is rarely in a cache.
    head_due: Micros,
    /// The number of changes to the positions of entries.
    changes: u32,
}

/// The position of a key, if it has one, until the heap changes.
#[derive(Clone, Copy, Default)]
pub(super) struct Found {
    pub(super) position: Option<usize>,
    changes: u32,
}

pub(super) struct Entry {
    /// The latest version of the limit, which determines when the state expires.
    pub(super) limit: Limit,
    pub(super) key: Key,
    pub(super) state: State,
    /// The heap's order: not later than the state's expiry.
    pub(super) due: Micros,
}

impl Entry {
    pub(super) fn expires_at(&self) -> Micros {
        self.limit.algorithm().expires_at(&self.state)
    }

    #[inline]
    fn hash(&self, hasher: &RandomState) -> u64 {
        hash(hasher, &self.limit, &self.key)
    }
}

/// The hash of a key under a limit, the same for all versions of the limit.
#[inline]
pub(super) fn hash(hasher: &RandomState, limit: &Limit, key: &Key) -> u64 {
    hasher.hash_one((limit.shape_hash(), key.as_str()))
}

impl IndexedHeap {
    /// An empty heap. Callers of `find` and `insert` must use the same hasher.
    pub(super) fn new(hasher: RandomState) -> Self {
        Self {
            entries: Vec::new(),
            index: HashTable::new(),
            hasher,
            head_due: Micros::MAX,
            changes: 0,
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    #[inline]
    pub(super) fn head(&self) -> Option<&Entry> {
        self.entries.first()
    }

    /// The due time of the head, or the end of time without one.
    #[inline]
    pub(super) fn head_due(&self) -> Micros {
        self.head_due
    }

    /// The position of a key.
    #[inline]
    pub(super) fn find(&self, hash: u64, limit: &Limit, key: &Key) -> Option<usize> {
        let is_match = |&position: &u32| {
            let entry = &self.entries[position as usize];
            entry.key == *key && entry.limit.counts_as(limit)
        };
        self.index.find(hash, is_match).map(|&position| position as usize)
    }

    /// The position of a key, to be used again.
    #[inline]
    pub(super) fn find_first(&self, hash: u64, limit: &Limit, key: &Key) -> Found {
        Found {
            position: self.find(hash, limit, key),
            changes: self.changes,
        }
    }

    /// The position of a key that was found before.
    #[inline]
    pub(super) fn find_again(&self, found: Found, hash: u64, limit: &Limit, key: &Key) -> Option<usize> {
        match found.changes == self.changes {
            true => found.position,
            false => self.find(hash, limit, key),
        }
    }

    #[inline]
    pub(super) fn entry(&self, position: usize) -> &Entry {
        &self.entries[position]
    }

    #[inline]
    pub(super) fn entry_mut(&mut self, position: usize) -> &mut Entry {
        &mut self.entries[position]
    }

    pub(super) fn insert(&mut self, hash: u64, entry: Entry) {
        let position = self.entries.len();
        if position == self.entries.capacity() {
            // By an eighth: entries take most of the memory, and doubling would leave up to half of it unused.
            self.entries.reserve_exact(position / 8 + 4);
        }
        self.entries.push(entry);
        let (entries, hasher) = (&self.entries, &self.hasher);
        self.index
            .insert_unique(hash, IN_TRANSIT, |&position| entries[position as usize].hash(hasher));
        self.sift(position);
    }

    pub(super) fn remove(&mut self, position: usize) {
        let last = self.entries.len() - 1;
        self.set_position(position, IN_TRANSIT);
        let hash = self.entries[position].hash(&self.hasher);
        if let Ok(removed) = self.index.find_entry(hash, |&position| position == IN_TRANSIT) {
            removed.remove();
        }
        if position != last {
            self.set_position(last, IN_TRANSIT);
        }
        self.entries.swap_remove(position);
        match position == last {
            true => self.positions_changed(),
            false => self.sift(position),
        }
    }

    /// Changes the due time of an entry.
    pub(super) fn reschedule(&mut self, position: usize, due: Micros) {
        self.entries[position].due = due;
        self.set_position(position, IN_TRANSIT);
        self.sift(position);
    }

    /// Releases memory if most of it is unused.
    pub(super) fn shrink(&mut self) {
        let len = self.entries.len().max(64);
        if self.entries.capacity() > 8 * len {
            self.entries.shrink_to(2 * len);
            let (entries, hasher) = (&self.entries, &self.hasher);
            self.index
                .shrink_to(2 * len, |&position| entries[position as usize].hash(hasher));
        }
    }

    /// Moves an entry in transit to its position by due time: up to the head, or down.
    fn sift(&mut self, mut position: usize) {
        while position > HEAD && self.entries[position].due < self.entries[parent(position)].due {
            position = self.swap(position, parent(position));
        }
        while let Some(child) = self
            .earlier_child(position)
            .filter(|&child| self.entries[child].due < self.entries[position].due)
        {
            position = self.swap(position, child);
        }
        let hash = self.entries[position].hash(&self.hasher);
        self.replace_position(hash, IN_TRANSIT, position as u32);
        self.positions_changed();
    }

    /// Updates what depends on the positions.
    fn positions_changed(&mut self) {
        self.head_due = self.head().map_or(Micros::MAX, |head| head.due);
        self.changes = self.changes.wrapping_add(1);
    }

    /// Swaps the entry in transit with another, and returns its new position.
    fn swap(&mut self, in_transit: usize, other: usize) -> usize {
        self.set_position(other, in_transit as u32);
        self.entries.swap(in_transit, other);
        other
    }

    fn earlier_child(&self, position: usize) -> Option<usize> {
        let children = [2 * position + 1, 2 * position + 2].into_iter();
        children
            .filter(|&child| child < self.entries.len())
            .min_by_key(|&child| self.entries[child].due)
    }

    /// Updates the index before an entry moves.
    fn set_position(&mut self, position: usize, to: u32) {
        let hash = self.entries[position].hash(&self.hasher);
        self.replace_position(hash, position as u32, to);
    }

    fn replace_position(&mut self, hash: u64, from: u32, to: u32) {
        let indexed = self.index.find_mut(hash, |&position| position == from);
        *indexed.expect("every entry is in the index") = to;
    }
}

fn parent(position: usize) -> usize {
    (position - 1) / 2
}

#[cfg(test)]
mod tests;
