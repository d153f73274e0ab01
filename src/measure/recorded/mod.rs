//! Tells the recorder that is installed.

mod describe;
mod handles;
mod limit;
mod memory;
mod names;
#[cfg(feature = "redis")]
mod redis;
mod requests;

#[cfg(feature = "redis")]
pub(crate) use self::redis::{Stopwatch, batch, breaker};
pub(crate) use self::{describe::describe, limit::LimitMeasures, memory::memory_keys, requests::request};
