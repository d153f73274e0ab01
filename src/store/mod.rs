//! Where state lives, and who charges it.
//!
//! A [`Store`] does one thing: it applies an [`Operation`] in one atomic step, on its own clock, and says what came of
//! it. [`MemoryStore`] keeps state in this process. [`RedisStore`] keeps it in Redis, for as many processes as share
//! it. Both do the same arithmetic and answer alike, to the microsecond. A [`Fallback`] is one store that may fail and a
//! memory store that stands in for it.

mod fallback;
mod memory;
#[cfg(feature = "redis")]
pub(crate) mod redis;
mod sealed;
mod store;

#[cfg(feature = "redis")]
pub use self::redis::{Health, RedisDecision, RedisStore, RedisStoreBuilder, ServerHealth, StoreError};
pub use self::{
    fallback::{Fallback, FallbackDecision},
    memory::{MemoryStore, MemoryStoreBuilder},
    store::Store,
};
