//! The store for one process: sharded, bounded, and without a background thread.
//!
//! A key's hash selects its shard (`shard`), which keeps it in a heap with an index (`indexed_heap`). A `transaction` of
//! several charges locks its shards in ascending order, so that charging all or none cannot deadlock.

mod builder;
mod indexed_heap;
mod shard;
mod shards;
mod store;
mod transaction;

pub use self::{builder::MemoryStoreBuilder, store::MemoryStore};
