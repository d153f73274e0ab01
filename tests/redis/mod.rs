//! The Redis store: batching, stored keys, connections, the denial cache, settings, cluster and TLS.

mod batches;
mod cluster;
mod concurrency;
mod connections;
mod corrupt_values;
mod denial_cache;
mod leases;
mod settings;
mod stored_keys;
#[cfg(feature = "tls")]
mod tls;
