//! Stores: they keep the state of limits, and decide.
//!
//! A [`Store`] applies an [`Operation`] in one atomic step, on its own clock, and returns the decision. [`MemoryStore`] keeps
//! state in this process. [`RedisStore`] keeps it in Redis, shared by many processes. Both do the same arithmetic and return
//! the same decisions, to the microsecond. A [`Fallback`] uses a memory store while another store fails.

mod fallback;
mod memory;
#[cfg(feature = "redis")]
pub(crate) mod redis;
mod store;

#[cfg(feature = "redis")]
pub use self::redis::{Health, NodeHealth, RedisCause, RedisDecision, RedisStore, RedisStoreBuilder, StoreError};
pub use self::{
    fallback::{Fallback, FallbackDecision},
    memory::{MemoryStore, MemoryStoreBuilder},
    store::Store,
};
