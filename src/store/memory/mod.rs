//! The store for one process: sharded, bounded, and never in need of a thread of its own.
//!
//! A key's hash picks its shard (`shard`), which keeps it in a heap with an index (`entries`). A group of charges
//! (`group`) locks the shards it needs, always in ascending order, so that all-or-none over several shards cannot
//! deadlock.

mod builder;
mod entries;
mod group;
mod shard;
mod shards;
mod store;

pub use self::{builder::MemoryStoreBuilder, store::MemoryStore};
