//! Every metric by its name.

pub(super) const REQUESTS: &str = "tollgate_requests_total";
pub(super) const DECISIONS: &str = "tollgate_decisions_total";
pub(super) const SHADOW_REFUSALS: &str = "tollgate_shadow_refusals_total";
pub(super) const WAIT: &str = "tollgate_wait_seconds";
pub(super) const MEMORY_KEYS: &str = "tollgate_memory_keys";
#[cfg(feature = "redis")]
pub(super) const STORE: &str = "tollgate_store_seconds";
#[cfg(feature = "redis")]
pub(super) const BATCH: &str = "tollgate_batch_size";
#[cfg(feature = "redis")]
pub(super) const REPEATED_REFUSALS: &str = "tollgate_repeated_refusals_total";
#[cfg(feature = "redis")]
pub(super) const BREAKER_OPEN: &str = "tollgate_breaker_open";
