//! Every metric with its unit and what it says.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};

use super::names;

/// Tells the recorder what each of them says. Each store does when it is built: by then there is a recorder as a rule, and what
/// it is told twice does no harm.
pub(crate) fn describe() {
    describe_counter!(names::REQUESTS, Unit::Count, "Requests, by what has become of them");
    describe_counter!(names::DECISIONS, Unit::Count, "What each limit has said of requests");
    describe_counter!(
        names::SHADOW_REFUSALS,
        Unit::Count,
        "Requests that passed and that a shadow would have refused"
    );
    describe_histogram!(
        names::WAIT,
        Unit::Seconds,
        "How long requests were held back by a limit, in a queue or in a line"
    );
    describe_gauge!(names::MEMORY_KEYS, Unit::Count, "Keys that the memory stores hold");
    #[cfg(feature = "redis")]
    describe_redis();
}

#[cfg(feature = "redis")]
fn describe_redis() {
    describe_histogram!(names::STORE, Unit::Seconds, "How long requests waited for Redis");
    describe_histogram!(names::BATCH, Unit::Count, "How many requests shared a call to Redis");
    describe_counter!(
        names::REPEATED_REFUSALS,
        Unit::Count,
        "Requests that were refused again without asking Redis"
    );
    describe_gauge!(
        names::BREAKER_OPEN,
        Unit::Count,
        "How many stores do not ask this Redis, because it fails"
    );
    super::requests::foresee_failures();
}
