//! What the tests share: servers of their own and ways to break them, both stores on one clock, random limits and traffic, a
//! browser, and what the documents say.
#![allow(
    async_fn_in_trait,
    missing_docs,
    missing_debug_implementations,
    reason = "it is for the tests alone"
)]

pub mod again;
pub mod browser;
#[cfg(feature = "redis")]
pub mod cluster;
pub mod documented;
#[cfg(feature = "redis")]
pub mod each_store;
pub mod folder;
pub mod header_lines;
#[cfg(feature = "redis")]
pub mod held;
pub mod http;
pub mod leaks;
pub mod log;
pub mod memory;
pub mod patience;
pub mod port;
pub mod process;
pub mod project;
pub mod property;
#[cfg(feature = "redis")]
pub mod proxy;
#[cfg(feature = "redis")]
pub mod random;
#[cfg(feature = "redis")]
pub mod redis;
pub mod requests;
pub mod rules;
#[cfg(feature = "redis")]
pub mod sentinel;
#[cfg(feature = "redis")]
pub mod server_clock;
#[cfg(feature = "redis")]
pub mod stores;
pub mod terminal;
pub mod traces;
pub mod twins;
#[cfg(feature = "redis")]
pub mod valkey;
#[cfg(all(feature = "redis", feature = "axum"))]
pub mod versions;

/// Pages whose examples need more than the library's own tests have.
#[cfg(all(doctest, feature = "axum"))]
mod pages {
    #[doc = include_str!("../../docs/observability.md")]
    struct Observability;

    #[doc = include_str!("../../docs/guide/migrating.md")]
    struct Migrating;

    #[doc = include_str!("../../src/respond/http/grpc.md")]
    struct Grpc;
}
