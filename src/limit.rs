//! Limits: an algorithm with a name that its state is stored under.

use std::{
    fmt,
    hash::BuildHasher,
    sync::{Arc, OnceLock},
    time::Duration,
};

use foldhash::quality::FixedState;
use http::HeaderValue;

use crate::{
    algorithm::{Algorithm, AnyAlgorithm},
    config_error::{self, ConfigError},
    metrics::LimitMetrics,
    quota::{MUST_BE_WORD, QuotaUnit, is_word},
    time::{Micros, micros},
};

/// An algorithm with a name. Clones are cheap.
///
/// On one store, limits with the same name, algorithm and shape (window, sub-windows, anchoring) share their state, regardless
/// of the layer or limiter that charges them. The quota is not part of the shape: usage is kept when a limit is raised or
/// lowered. (A bucket whose rate is lowered may still be dropped at the time it would have been full at the old rate.)
///
/// ```
/// use tollgate::{Limit, Quota, SlidingCounter};
///
/// let limit = Limit::new("user", SlidingCounter::new(Quota::per_minute(100)));
/// assert_eq!(limit.to_string(), "sliding_counter:user:60000000:1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit(Arc<LimitInner>);

/// Aligned to two cache lines, so that the count of references is in others: threads that clone a limit write it, while others read
/// the limit.
#[derive(Debug)]
#[repr(align(128))]
struct LimitInner {
    name: Box<str>,
    /// The algorithm of the state, which is stricter than that of the limit if it is leased.
    algorithm: AnyAlgorithm,
    lease: Option<LeaseSettings>,
    shape: Box<str>,
    /// Computed once, so that lookups hash only the key. It is neither secret nor unique: limits are compared by shape.
    shape_hash: u64,
    metrics: LimitMetrics,
    /// May be set with the first request, whose cost extractor knows it. It is not in the charge, which is moved often.
    unit: OnceLock<QuotaUnit>,
    /// Set with the first response.
    header_capacity: OnceLock<HeaderValue>,
    /// Set with the first response, since it contains the unit.
    header_policy: OnceLock<HeaderValue>,
    /// Set when changed rules replace it.
    successor: OnceLock<Limit>,
}

/// A shorter lease would end before the reply of Redis.
const MIN_LEASE: Duration = Duration::from_millis(1);

/// What a node holds is out of reach for others for as long.
const MAX_LEASE: Duration = Duration::from_secs(60);

/// The lease of a limit, as it was configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LeaseSettings {
    time: Micros,
    /// The algorithm without the lease.
    unleased: AnyAlgorithm,
    /// Whether units can be leased: a bucket may be too small, and a queue never is leased.
    has_effect: bool,
}

/// Not recursively, since there may be a version for each of many reloads.
impl Drop for LimitInner {
    fn drop(&mut self) {
        let mut successor = self.successor.take();
        while let Some(mut version) = successor.and_then(|version| Arc::into_inner(version.0)) {
            successor = version.successor.take();
        }
    }
}

/// What a limit counts does not affect its decisions.
impl PartialEq for LimitInner {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.algorithm == other.algorithm && self.lease == other.lease
    }
}

impl Eq for LimitInner {}

impl Limit {
    /// A limit with a name of 1 to 64 characters of `a-z 0-9 _ . -`.
    ///
    /// # Panics
    /// If [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(name: &str, algorithm: impl Algorithm) -> Self {
        config_error::expect(Self::try_new(name, algorithm))
    }

    /// A limit with a name, or an error if the name is invalid.
    pub fn try_new(name: &str, algorithm: impl Algorithm) -> Result<Self, ConfigError> {
        check_name(name)?;
        Ok(Self::named(name, algorithm.to_any(), None, LimitMetrics::new(name)))
    }

    /// The limit with a lease, as [`Tier::lease`](crate::Tier::lease) documents it.
    ///
    /// # Panics
    /// If [`try_lease`](Self::try_lease) returns an error.
    #[track_caller]
    #[must_use]
    pub fn lease(&self, time: Duration) -> Self {
        config_error::expect(self.try_lease(time))
    }

    /// The limit with a lease, or an error if the time is not from a millisecond to a minute.
    pub fn try_lease(&self, time: Duration) -> Result<Self, ConfigError> {
        check_lease(time)?;
        Ok(self.version(*self.unleased_algorithm(), Some(micros(time))))
    }

    /// A version of the limit with another algorithm, and the same lease.
    pub(crate) fn with_algorithm(&self, algorithm: AnyAlgorithm) -> Self {
        self.version(algorithm, self.configured_lease())
    }

    fn version(&self, algorithm: AnyAlgorithm, lease: Option<Micros>) -> Self {
        let version = Self::named(self.name(), algorithm, lease, self.metrics().clone());
        self.unit().into_iter().for_each(|unit| version.set_unit(unit.clone()));
        version
    }

    fn named(name: &str, unleased: AnyAlgorithm, lease: Option<Micros>, metrics: LimitMetrics) -> Self {
        let leased = lease.and_then(|time| unleased.leased(time));
        let algorithm = leased.unwrap_or(unleased);
        let shape: Box<str> = shape(name, &unleased, lease).into();
        let lease = lease.map(|time| LeaseSettings {
            time,
            unleased,
            has_effect: leased.is_some(),
        });
        Self(Arc::new(LimitInner {
            name: name.into(),
            algorithm,
            lease,
            shape_hash: FixedState::default().hash_one(&shape),
            shape,
            metrics,
            unit: OnceLock::new(),
            header_capacity: OnceLock::new(),
            header_policy: OnceLock::new(),
            successor: OnceLock::new(),
        }))
    }

    /// Checks that no other limit of a layer or a limiter has the name.
    pub(crate) fn check_distinct<'a>(&self, others: impl IntoIterator<Item = &'a Self>) -> Result<(), ConfigError> {
        let name = self.name();
        match others.into_iter().any(|other| other.name() == name) {
            true => Err(ConfigError::new(
                "name",
                format_args!("{name:?}"),
                "differ from the names of the other tiers",
            )),
            false => Ok(()),
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The algorithm that decides. With a lease, it is stricter than the one that was configured.
    #[inline]
    pub fn algorithm(&self) -> &AnyAlgorithm {
        &self.0.algorithm
    }

    /// For how long nodes may [lease](crate::Tier::lease) units. `None` without a lease, and where a lease would have no effect.
    pub fn lease_time(&self) -> Option<Duration> {
        self.lease_micros().map(Duration::from_micros)
    }

    /// The algorithm without its lease, as it was configured.
    pub fn unleased_algorithm(&self) -> &AnyAlgorithm {
        self.0.lease.as_ref().map_or(&self.0.algorithm, |lease| &lease.unleased)
    }

    /// How long units may be spent after they were charged, if nodes may lease them.
    pub(crate) fn lease_micros(&self) -> Option<Micros> {
        self.0.lease.filter(|lease| lease.has_effect).map(|lease| lease.time)
    }

    /// The lease time, whether it has an effect or not: another quota may have one.
    pub(crate) fn configured_lease(&self) -> Option<Micros> {
        self.0.lease.map(|lease| lease.time)
    }

    /// What it counts, if not requests. Unless it is named, a layer learns it from the cost of the first request.
    pub fn unit(&self) -> Option<&QuotaUnit> {
        self.0.unit.get()
    }

    /// Names what it counts, unless that has been named before.
    pub(crate) fn set_unit(&self, unit: QuotaUnit) {
        self.0.unit.get_or_init(|| unit);
    }

    /// Its capacity in response headers, built with the first response.
    pub(crate) fn header_capacity(&self, build: impl FnOnce() -> HeaderValue) -> &HeaderValue {
        self.0.header_capacity.get_or_init(build)
    }

    /// Its policy in response headers, built with the first response.
    pub(crate) fn header_policy(&self, build: impl FnOnce() -> HeaderValue) -> &HeaderValue {
        self.0.header_policy.get_or_init(build)
    }

    /// The prefix of stored keys: equal for limits that share their state.
    pub(crate) fn shape(&self) -> &str {
        &self.0.shape
    }

    /// The hash of the shape, for lookups.
    #[inline]
    pub(crate) fn shape_hash(&self) -> u64 {
        self.0.shape_hash
    }

    /// The metrics with its name as a label.
    pub(crate) fn metrics(&self) -> &LimitMetrics {
        &self.0.metrics
    }

    /// Whether the two share their state, possibly as two versions of one limit.
    #[inline]
    pub(crate) fn counts_as(&self, other: &Self) -> bool {
        let is_same_shape = || self.0.shape_hash == other.0.shape_hash && self.0.shape == other.0.shape;
        Arc::ptr_eq(&self.0, &other.0) || is_same_shape()
    }

    /// Changed rules replace it with another limit, which is a later version of it if they share their state.
    #[cfg(feature = "rules")]
    pub(crate) fn replaced_by(&self, successor: &Self) {
        if self.counts_as(successor) {
            self.0.successor.get_or_init(|| successor.clone());
        }
    }

    /// Replaces it with the version that is in force now.
    pub(crate) fn update(&mut self) {
        while let Some(successor) = self.0.successor.get().cloned() {
            *self = successor;
        }
    }

    /// Replaces it with another version of the same limit. Returns whether that was a different object.
    #[inline]
    pub(crate) fn update_to(&mut self, other: &Self) -> bool {
        let is_different = !Arc::ptr_eq(&self.0, &other.0);
        if is_different {
            self.0 = Arc::clone(&other.0);
        }
        is_different
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.shape())
    }
}

/// The lease is part of it where it makes the state another one; even if a bucket is too small for it, since its capacity may change.
fn shape(name: &str, algorithm: &AnyAlgorithm, lease: Option<Micros>) -> String {
    let kind = algorithm.name();
    // A concurrency limit has no window.
    let Some(window) = algorithm.quota().map(|quota| quota.window_micros()) else {
        return format!("{kind}:{name}");
    };
    match (algorithm, lease) {
        (AnyAlgorithm::SlidingCounter(counter), _) => format!("{kind}:{name}:{window}:{}", counter.sub_windows),
        (AnyAlgorithm::FixedWindow(fixed), _) if fixed.anchored => format!("{kind}:{name}:{window}:anchored"),
        (AnyAlgorithm::TokenBucket(_) | AnyAlgorithm::LeakyBucket(_) | AnyAlgorithm::SlidingLog(_), Some(lease))
            if !algorithm.is_queueing() =>
        {
            format!("{kind}:{name}:{window}:lease{lease}")
        }
        _ => format!("{kind}:{name}:{window}"),
    }
}

/// Checks the range of a lease time.
pub(crate) fn check_lease(time: Duration) -> Result<(), ConfigError> {
    match (MIN_LEASE..=MAX_LEASE).contains(&time) {
        true => Ok(()),
        false => Err(ConfigError::new("lease", format_args!("{time:?}"), "be from 1ms to 1m")),
    }
}

/// Checks that a name is safe in keys, headers and metrics.
pub(crate) fn check_name(name: &str) -> Result<(), ConfigError> {
    match is_word(name) {
        true => Ok(()),
        false => Err(ConfigError::new("name", format_args!("{name:?}"), MUST_BE_WORD)),
    }
}

#[cfg(all(test, feature = "rules"))]
mod tests;
