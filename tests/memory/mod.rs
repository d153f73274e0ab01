//! The memory store: what it keeps and evicts, groups of charges, and concurrent threads.

mod concurrency;
mod groups;
mod store;
mod threads;
