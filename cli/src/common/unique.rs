//! A name of one's own.

use std::hash::{BuildHasher, RandomState};

/// Sixteen digits that nobody else has: std begins every hasher at random.
pub(crate) fn unique() -> String {
    format!("{:016x}", RandomState::new().hash_one(()))
}
