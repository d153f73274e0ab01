//! Shared test helpers: servers and fault injection, both stores on one clock, random limits and traffic, a browser, and tables
//! of the docs.
#![allow(
    async_fn_in_trait,
    missing_docs,
    missing_debug_implementations,
    reason = "only the tests use this crate"
)]

pub mod algorithms;
pub mod browser;
#[cfg(feature = "redis")]
pub mod cluster;
pub mod constructors;
pub mod doc_tables;
#[cfg(feature = "redis")]
pub mod each_store;
pub mod example_server;
pub mod folder;
pub mod header_lines;
pub mod http;
pub mod leaks;
pub mod log;
pub mod memory;
#[cfg(feature = "redis")]
pub mod oldest_redis;
pub mod page;
pub mod port;
pub mod process;
pub mod project;
pub mod property;
#[cfg(feature = "redis")]
pub mod proxy;
#[cfg(feature = "redis")]
pub mod queued_server;
#[cfg(feature = "redis")]
pub mod random;
#[cfg(feature = "redis")]
pub mod redis;
pub mod requests;
#[cfg(all(feature = "redis", feature = "axum"))]
pub mod rule_versions;
#[cfg(feature = "redis")]
pub mod sentinel;
#[cfg(feature = "redis")]
pub mod server_clock;
#[cfg(feature = "redis")]
pub mod stores;
pub mod strategies;
pub mod subprocess;
pub mod terminal;
#[cfg(feature = "redis")]
pub mod valkey;
pub mod wait;

/// Pages with doctests that need dependencies of this package.
#[cfg(all(doctest, feature = "axum"))]
mod pages {
    #[doc = include_str!("../../docs/observability.md")]
    struct Observability;

    #[doc = include_str!("../../docs/guide/migrating.md")]
    struct Migrating;

    #[doc = include_str!("../../src/respond/http/grpc.md")]
    struct Grpc;
}
