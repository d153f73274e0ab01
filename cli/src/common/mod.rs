//! Code that several subcommands share.

pub(crate) mod duration;
pub(crate) mod grouped;
pub(crate) mod key_state;
pub(crate) mod limit_summary;
pub(crate) mod listen;
pub(crate) mod local_host;
pub(crate) mod output;
pub(crate) mod peak_count;
pub(crate) mod redis;
pub(crate) mod rules;
pub(crate) mod runtime;
pub(crate) mod store;

use std::hash::{BuildHasher, RandomState};

/// Sixteen random hexadecimal digits: std seeds every hasher randomly.
pub(crate) fn random_id() -> String {
    format!("{:016x}", RandomState::new().hash_one(()))
}
