//! The Redis store: what it asks, what it leaves there, and what it does with its connections.

mod batches;
mod cluster;
mod connections;
mod denied;
mod garbage;
mod kept;
mod settings;
#[cfg(feature = "tls")]
mod tls;
