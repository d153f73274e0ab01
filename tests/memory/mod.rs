//! The memory store: what it keeps and forgets, groups of charges, and many threads at once.

mod groups;
mod store;
mod threads;
