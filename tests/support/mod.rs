//! What the tests share: servers of their own and ways to break them, both stores on one clock, random limits and traffic, a
//! browser, and what the documents say.
#![allow(
    dead_code,
    unreachable_pub,
    unused_imports,
    unused_macros,
    reason = "each test binary uses its own part"
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
pub mod property;
#[cfg(feature = "redis")]
pub mod proxy;
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
pub mod traces;
pub mod twins;
#[cfg(feature = "redis")]
pub mod valkey;
