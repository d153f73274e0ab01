//! The Redis store: what it asks, what it leaves there, and what it does with its connections.
#![cfg(feature = "redis")]

mod batches;
mod cluster;
mod connections;
mod denied;
mod garbage;
mod kept;
mod settings;
#[path = "../support/mod.rs"]
mod support;
#[cfg(feature = "tls")]
mod tls;
