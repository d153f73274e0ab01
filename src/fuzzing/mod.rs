//! What is held against inputs that nobody thought of, where it takes the inside: keys in Redis, and its replies.
//!
//! fuzz/README.md tells of it. The tests run it on the inputs that are kept in `tests/fuzz_seeds/`.

mod keys;
mod reply;
#[cfg(test)]
mod seeds;

pub use self::{keys::keys, reply::reply};
