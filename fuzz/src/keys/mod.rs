//! Keys in Redis: no two identities meet, and each can be told from its key.
//!
//! An input is one charge or two, with an empty line between them. The first line of a charge is its limit, every other
//! one a part of its identity.

mod identity;
mod keys;
mod taken_apart;

pub use self::keys::keys;
