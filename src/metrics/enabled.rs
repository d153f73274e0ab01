//! Records metrics with the installed recorder.
//!
//! Keys are cached, handles are not: a handle from before the recorder was installed would never record anything, and looking
//! it up on every use also finds a recorder that a test has set for its own thread.

use std::{
    fmt,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, AtomicIsize, Ordering},
    },
    time::Duration,
};

use metrics::{
    Counter, Gauge, Histogram, Key, Label, Level, Metadata, SharedString, Unit, describe_counter, describe_gauge,
    describe_histogram, with_recorder,
};

#[cfg(feature = "redis")]
use super::UnitOutcome;
use super::{DecisionSource, RequestOutcome, TierOutcome};

const REQUESTS: &str = "tollgate_requests_total";
const DECISIONS: &str = "tollgate_decisions_total";
const SHADOW_DENIALS: &str = "tollgate_shadow_denials_total";
const WAIT: &str = "tollgate_wait_seconds";
const MEMORY_KEYS: &str = "tollgate_memory_keys";
#[cfg(feature = "redis")]
const STORE: &str = "tollgate_store_seconds";
#[cfg(feature = "redis")]
const BATCH_SIZE: &str = "tollgate_batch_size";
#[cfg(feature = "redis")]
const CACHED_DENIALS: &str = "tollgate_cached_denials_total";
#[cfg(feature = "redis")]
const LEASES: &str = "tollgate_leases_total";
#[cfg(feature = "redis")]
const LEASED_UNITS: &str = "tollgate_leased_units_total";
#[cfg(feature = "redis")]
const LOCAL_REQUESTS: &str = "tollgate_local_requests_total";
#[cfg(feature = "redis")]
const SHED_REQUESTS: &str = "tollgate_shed_requests_total";
#[cfg(feature = "redis")]
const CIRCUIT_BREAKER_OPEN: &str = "tollgate_circuit_breaker_open";

/// Whether anything is recorded, for callers that have to compute what they record.
pub(crate) const ARE_ENABLED: bool = true;

/// Describes each metric to the recorder. Every store calls it when it is built, usually after the recorder was installed.
/// Describing a metric twice is harmless.
pub(crate) fn describe() {
    describe_counter!(REQUESTS, Unit::Count, "Requests, by outcome and by what decided");
    describe_counter!(DECISIONS, Unit::Count, "Outcomes of each limit");
    describe_counter!(
        SHADOW_DENIALS,
        Unit::Count,
        "Admitted requests that a shadow limit would have denied"
    );
    describe_histogram!(WAIT, Unit::Seconds, "How long a limit delayed requests, in a queue");
    describe_gauge!(MEMORY_KEYS, Unit::Count, "Keys in the memory stores");
    #[cfg(feature = "redis")]
    describe_redis();
}

#[cfg(feature = "redis")]
fn describe_redis() {
    describe_histogram!(STORE, Unit::Seconds, "How long requests waited for Redis");
    describe_histogram!(BATCH_SIZE, Unit::Count, "Requests in one call to Redis");
    describe_counter!(
        CACHED_DENIALS,
        Unit::Count,
        "Requests denied from the denial cache, without a call to Redis"
    );
    describe_counter!(LEASES, Unit::Count, "Leases that Redis has granted");
    describe_counter!(LEASED_UNITS, Unit::Count, "Units of leases: leased, spent and returned");
    describe_counter!(
        LOCAL_REQUESTS,
        Unit::Count,
        "Requests that leases decided about, without a call to Redis"
    );
    describe_counter!(
        SHED_REQUESTS,
        Unit::Count,
        "Requests that were not sent because Redis cannot keep up"
    );
    describe_gauge!(
        CIRCUIT_BREAKER_OPEN,
        Unit::Count,
        "Stores whose circuit breaker for this Redis is open"
    );
    // An alert on the rate of a counter needs its value before the first failure.
    for (outcome, source) in [
        (RequestOutcome::FailedOpen, DecisionSource::None),
        (RequestOutcome::FailedOpen, DecisionSource::Store),
        (RequestOutcome::FailedClosed, DecisionSource::None),
    ] {
        requests(outcome, source).increment(0);
    }
}

pub(crate) fn count_request(outcome: RequestOutcome, source: DecisionSource) {
    requests(outcome, source).increment(1);
}

fn requests(outcome: RequestOutcome, source: DecisionSource) -> Counter {
    static KEYS: LazyLock<[[Key; 3]; 9]> = LazyLock::new(|| {
        let key = |outcome: RequestOutcome, source: DecisionSource| {
            let outcome = Label::from_static_parts("outcome", outcome.name());
            key(REQUESTS, [outcome, Label::from_static_parts("by", source.name())])
        };
        let sources = [DecisionSource::Store, DecisionSource::Fallback, DecisionSource::None];
        [
            RequestOutcome::Admitted,
            RequestOutcome::Limited,
            RequestOutcome::Impossible,
            RequestOutcome::Exempt,
            RequestOutcome::Blocked,
            RequestOutcome::MissingKey,
            RequestOutcome::AmbiguousKey,
            RequestOutcome::FailedOpen,
            RequestOutcome::FailedClosed,
        ]
        .map(|outcome| sources.map(|source| key(outcome, source)))
    });
    counter(&KEYS[outcome as usize][source as usize])
}

/// The metrics of a limit. Its keys are made once, so that counting does not allocate; all versions of a limit share them.
#[derive(Clone)]
pub(crate) struct LimitMetrics(Arc<LimitKeys>);

struct LimitKeys {
    /// By outcome.
    decisions: [Key; 5],
    shadow_denials: Key,
    wait: Key,
    #[cfg(feature = "redis")]
    cached_denials: Key,
    #[cfg(feature = "redis")]
    leases: Key,
    /// By outcome.
    #[cfg(feature = "redis")]
    leased_units: [Key; 3],
}

impl LimitMetrics {
    pub(crate) fn new(limit: &str) -> Self {
        let limit = SharedString::from(Arc::<str>::from(limit));
        let limit = || Label::new("limit", limit.clone());
        let decisions = |outcome: TierOutcome| {
            let outcome = Label::from_static_parts("outcome", outcome.name());
            key(DECISIONS, [limit(), outcome])
        };
        let outcomes = [
            TierOutcome::Admitted,
            TierOutcome::NotCharged,
            TierOutcome::Limited,
            TierOutcome::Impossible,
            TierOutcome::Unchecked,
        ];
        Self(Arc::new(LimitKeys {
            decisions: outcomes.map(decisions),
            shadow_denials: key(SHADOW_DENIALS, [limit()]),
            wait: key(WAIT, [limit()]),
            #[cfg(feature = "redis")]
            cached_denials: key(CACHED_DENIALS, [limit()]),
            #[cfg(feature = "redis")]
            leases: key(LEASES, [limit()]),
            #[cfg(feature = "redis")]
            leased_units: [UnitOutcome::Leased, UnitOutcome::Spent, UnitOutcome::Returned].map(|outcome| {
                let outcome = Label::from_static_parts("outcome", outcome.name());
                key(LEASED_UNITS, [limit(), outcome])
            }),
        }))
    }

    pub(crate) fn count_decision(&self, outcome: TierOutcome) {
        counter(&self.0.decisions[outcome as usize]).increment(1);
    }

    pub(crate) fn count_shadow_denial(&self) {
        counter(&self.0.shadow_denials).increment(1);
    }

    pub(crate) fn record_wait(&self, time: Duration) {
        histogram(&self.0.wait).record(time);
    }

    #[cfg(feature = "redis")]
    pub(crate) fn count_cached_denial(&self) {
        counter(&self.0.cached_denials).increment(1);
    }

    #[cfg(feature = "redis")]
    pub(crate) fn count_lease(&self) {
        counter(&self.0.leases).increment(1);
    }

    #[cfg(feature = "redis")]
    pub(crate) fn count_leased_units(&self, outcome: UnitOutcome, units: u32) {
        counter(&self.0.leased_units[outcome as usize]).increment(units.into());
    }
}

/// Limits are compared by their names, which determine their metrics.
impl PartialEq for LimitMetrics {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LimitMetrics {}

impl fmt::Debug for LimitMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitMetrics").finish_non_exhaustive()
    }
}

/// The keys of all memory stores. Concurrent updates may arrive out of order, so it can be below zero for a moment.
static TOTAL_MEMORY_KEYS: AtomicIsize = AtomicIsize::new(0);
static IS_PUBLISHING: AtomicBool = AtomicBool::new(false);

/// A shard of a memory store went from one number of keys to another.
pub(crate) fn memory_keys(before: usize, after: usize) {
    if before != after {
        TOTAL_MEMORY_KEYS.fetch_add(after as isize - before as isize, Ordering::SeqCst);
        publish_memory_keys();
    }
}

/// Sets the gauge to the total, not to the change, which a recorder installed later would have missed. One thread publishes at
/// a time and checks for changes afterwards, so the value published last is the latest.
fn publish_memory_keys() {
    static KEY: Key = Key::from_static_name(MEMORY_KEYS);
    while !IS_PUBLISHING.swap(true, Ordering::SeqCst) {
        let total = TOTAL_MEMORY_KEYS.load(Ordering::SeqCst);
        gauge(&KEY).set(total.max(0) as f64);
        IS_PUBLISHING.store(false, Ordering::SeqCst);
        if TOTAL_MEMORY_KEYS.load(Ordering::SeqCst) == total {
            return;
        }
    }
}

#[cfg(feature = "redis")]
pub(crate) use self::redis::{StoreCallTimer, batch_size, circuit_breaker, count_local_request, count_shed};

#[cfg(feature = "redis")]
mod redis {
    use std::{
        collections::BTreeMap,
        sync::{LazyLock, Mutex, PoisonError},
        time::Instant,
    };

    use metrics::{Key, Label};

    use super::{
        BATCH_SIZE, CIRCUIT_BREAKER_OPEN, LOCAL_REQUESTS, SHED_REQUESTS, STORE, counter, gauge, histogram, key,
    };
    use crate::metrics::StoreCallOutcome;

    /// Measures how long a request waits for Redis, even if its client disconnects.
    pub(crate) struct StoreCallTimer {
        since: Instant,
        outcome: Option<StoreCallOutcome>,
    }

    impl StoreCallTimer {
        pub(crate) fn start() -> Self {
            let (since, outcome) = (Instant::now(), Some(StoreCallOutcome::Cancelled));
            Self { since, outcome }
        }

        /// `None` if the circuit breaker was open, so that Redis was not called.
        pub(crate) fn stop(mut self, outcome: Option<StoreCallOutcome>) {
            self.outcome = outcome;
        }
    }

    impl Drop for StoreCallTimer {
        fn drop(&mut self) {
            static KEYS: LazyLock<[Key; 3]> = LazyLock::new(|| {
                let key = |outcome: StoreCallOutcome| key(STORE, [Label::from_static_parts("outcome", outcome.name())]);
                [
                    StoreCallOutcome::Answered,
                    StoreCallOutcome::Failed,
                    StoreCallOutcome::Cancelled,
                ]
                .map(key)
            });
            if let Some(outcome) = self.outcome {
                histogram(&KEYS[outcome as usize]).record(self.since.elapsed());
            }
        }
    }

    pub(crate) fn batch_size(requests: usize) {
        static KEY: Key = Key::from_static_name(BATCH_SIZE);
        histogram(&KEY).record(requests as f64);
    }

    /// Counts a request that leases decided about.
    pub(crate) fn count_local_request() {
        static KEY: Key = Key::from_static_name(LOCAL_REQUESTS);
        counter(&KEY).increment(1);
    }

    /// Counts requests that were shed because Redis cannot keep up.
    pub(crate) fn count_shed(requests: usize) {
        static KEY: Key = Key::from_static_name(SHED_REQUESTS);
        counter(&KEY).increment(requests as u64);
    }

    /// Adds to the number of stores whose circuit breaker for this server is open.
    pub(crate) fn circuit_breaker(server: &str, change: isize) {
        static OPEN: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.get(server).map_or(0, |count| *count).saturating_add_signed(change);
        let label = Label::new("server", server.to_owned());
        // Under the lock, so that the gauge is set in the order of the changes.
        gauge(&key(CIRCUIT_BREAKER_OPEN, [label])).set(count as f64);
        // Addresses come and go in a cluster: healthy ones are dropped, or the map would grow.
        match count {
            0 => open.remove(server),
            count => open.insert(server.to_owned(), count),
        };
    }
}

static METADATA: Metadata<'static> = Metadata::new("tollgate", Level::INFO, Some(module_path!()));

/// A retained key, which is cheap to pass on. Recorders take twice as long to compare a key with more than two labels.
fn key<const N: usize>(name: &'static str, labels: [Label; N]) -> Key {
    Key::from_parts(name, labels.to_vec()).to_retained()
}

fn counter(key: &Key) -> Counter {
    with_recorder(|recorder| recorder.register_counter(key, &METADATA))
}

fn gauge(key: &Key) -> Gauge {
    with_recorder(|recorder| recorder.register_gauge(key, &METADATA))
}

fn histogram(key: &Key) -> Histogram {
    with_recorder(|recorder| recorder.register_histogram(key, &METADATA))
}
