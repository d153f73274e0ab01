//! The store for one process: sharded, bounded, and without a background thread.
//!
//! A key's hash selects its shard (`shard`), which keeps it in a heap with an index (`indexed_heap`). An operation on
//! several keys locks their shards in ascending order (`locked_shards`), so that charging all or none cannot deadlock.

mod builder;
mod indexed_heap;
mod locked_shards;
mod shard;
mod shards;
mod store;

pub use self::{builder::MemoryStoreBuilder, store::MemoryStore};
