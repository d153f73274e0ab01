//! What the tests share: a Redis of their own, and both stores on one clock.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]

pub mod memory;
#[cfg(feature = "redis")]
pub mod port;
#[cfg(feature = "redis")]
pub mod process;
#[cfg(feature = "redis")]
pub mod redis;
pub mod rules;
#[cfg(feature = "redis")]
pub mod stores;
pub mod traces;
