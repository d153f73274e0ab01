//! Tests of `shards`.

use std::collections::HashSet;

use super::*;
use crate::{algorithm::TokenBucket, quota::Quota};

/// Keys that collide in one process must not collide in another.
#[test]
fn no_two_stores_hash_alike() {
    let limit = Limit::new("user", TokenBucket::new(Quota::per_second(1)));
    let key = Key::new("key");
    let stores = (0..100).map(|_| Shards::new(1, true, Clock::system()));
    let hashes: HashSet<u64> = stores.map(|store| store.hash(&limit, &key)).collect();
    assert_eq!(hashes.len(), 100);
}
