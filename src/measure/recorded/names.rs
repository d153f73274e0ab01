//! Every metric by its name, with its unit and what it says.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

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

/// Tells the recorder what each of them says. Each store does when it is built: by then there is a recorder as a rule, and what
/// it is told twice does no harm.
pub(crate) fn describe() {
    describe_counter!(REQUESTS, Unit::Count, "Requests, by what has become of them");
    describe_counter!(DECISIONS, Unit::Count, "What each limit has said of requests");
    describe_counter!(
        SHADOW_REFUSALS,
        Unit::Count,
        "Requests that passed and that a shadow would have refused"
    );
    describe_histogram!(
        WAIT,
        Unit::Seconds,
        "How long requests were held back by a limit, in a queue or in a line"
    );
    describe_gauge!(MEMORY_KEYS, Unit::Count, "Keys that the memory stores hold");
    #[cfg(feature = "redis")]
    describe_redis();
}

#[cfg(feature = "redis")]
fn describe_redis() {
    describe_histogram!(STORE, Unit::Seconds, "How long requests waited for Redis");
    describe_histogram!(BATCH, Unit::Count, "How many requests shared a call to Redis");
    describe_counter!(
        REPEATED_REFUSALS,
        Unit::Count,
        "Requests that were refused again without asking Redis"
    );
    describe_gauge!(
        BREAKER_OPEN,
        Unit::Count,
        "How many stores do not ask this Redis, because it fails"
    );
    super::foresee_failures();
}
