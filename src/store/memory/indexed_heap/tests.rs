//! Tests of `indexed_heap`.

use super::*;
use crate::{algorithm::TokenBucket, quota::Quota};

/// Inserts, removes and reschedules random keys, and checks the heap's order, the index, and that a key that was found before is found again.
#[test]
fn heap_and_index_stay_consistent() {
    let limit = Limit::new("user", TokenBucket::new(Quota::per_second(1)));
    let mut heap = IndexedHeap::new(RandomState::default());
    let mut random: u64 = 42;
    let mut before = (Found::default(), Key::GLOBAL);
    for step in 0..20_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let (key, due) = (Key::new(format!("{}", (random >> 32) % 300)), random >> 50);
        let hash = hash(&heap.hasher, &limit, &key);
        let last = key.clone();
        match heap.find(hash, &limit, &key) {
            Some(position) if step % 3 == 0 => heap.remove(position),
            Some(position) => heap.reschedule(position, due),
            None => heap.insert(
                hash,
                Entry {
                    limit: limit.clone(),
                    key,
                    state: State::Fresh,
                    due,
                },
            ),
        }
        let (found, key) = &before;
        let key_hash = super::hash(&heap.hasher, &limit, key);
        assert_eq!(
            heap.find_again(*found, key_hash, &limit, key),
            heap.find(key_hash, &limit, key)
        );
        if step % 7 == 0 {
            before = (heap.find_first(hash, &limit, &last), last);
        }
        assert_eq!(heap.head_due(), heap.head().map_or(Micros::MAX, |head| head.due));
        if step % 50 == 0 {
            assert_eq!(heap.index.len(), heap.entries.len());
            for (position, entry) in heap.entries.iter().enumerate() {
                assert_eq!(heap.find(entry.hash(&heap.hasher), &limit, &entry.key), Some(position));
                assert!(position == HEAD || heap.entries[parent(position)].due <= entry.due);
            }
        }
    }
    while heap.len() > 0 {
        heap.remove(heap.len() / 2);
        heap.shrink();
    }
    assert!(heap.entries.capacity() <= 512 && heap.index.is_empty());
}
