//! The constructors of a layer.

use std::marker::PhantomData;

use super::RateLimitLayer;
use crate::{
    algorithm::{Algorithm, FixedWindow, LeakyBucket, SlidingCounter, SlidingLog, TokenBucket},
    config_error::{self, ConfigError},
    limit::Limit,
    policy::PerKey,
    quota::Quota,
    respond::HttpResponder,
    service::OnFailure,
    store::Store,
};

impl<A: Algorithm, K, St: Store> RateLimitLayer<A, K, St> {
    /// A layer with an algorithm that has further settings: anchored, with sub-windows, policing, with another capacity.
    ///
    /// ```
    /// use tollgate::{ClientIp, FixedWindow, MemoryStore, Quota, RateLimitLayer};
    ///
    /// let a_day_from_the_first_request = FixedWindow::new(Quota::per_day(1000)).anchored();
    /// let layer = RateLimitLayer::new("daily", a_day_from_the_first_request, ClientIp::peer(), MemoryStore::new());
    /// # let _ = layer;
    /// ```
    ///
    /// # Panics
    /// If [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(name: &str, algorithm: A, key: K, store: St) -> Self {
        config_error::expect(Self::try_new(name, algorithm, key, store))
    }

    /// A layer with one tier, or an error if the name is not 1 to 64 characters of `a-z 0-9 _ . -`.
    pub fn try_new(name: &str, algorithm: A, key: K, store: St) -> Result<Self, ConfigError> {
        let limit = Limit::try_new(name, algorithm)?;
        Ok(Self {
            first: PhantomData,
            policy: PerKey::new(limit.clone(), key),
            tiers: vec![limit],
            store,
            respond: HttpResponder::new(),
            on_failure: OnFailure::default(),
            wait: None,
        })
    }
}

macro_rules! constructors {
    ($($algorithm:ident, $name:ident, $try_name:ident, $build:expr, $summary:literal;)*) => {$(
        impl<K, St: Store> RateLimitLayer<$algorithm, K, St> {
            #[doc = concat!("A layer with a [`", stringify!($algorithm), "`]: ", $summary)]
            ///
            /// # Panics
            #[doc = concat!("If [`", stringify!($try_name), "`](Self::", stringify!($try_name), ") returns an error.")]
            #[track_caller]
            pub fn $name(name: &str, quota: Quota, key: K, store: St) -> Self {
                config_error::expect(Self::$try_name(name, quota, key, store))
            }

            #[doc = concat!("Like [`", stringify!($name), "`](Self::", stringify!($name), "),")]
            /// or an error if the name or the quota is invalid.
            pub fn $try_name(name: &str, quota: Quota, key: K, store: St) -> Result<Self, ConfigError> {
                Self::try_new(name, $build(quota)?, key, store)
            }
        }
    )*};
}

constructors! {
    TokenBucket, token_bucket, try_token_bucket, TokenBucket::try_new,
        "admits bursts of up to one quota, and the rate of the quota on average.";
    LeakyBucket, leaky_bucket, try_leaky_bucket, LeakyBucket::try_new,
        "queues up to one quota of requests, and releases them at a constant rate.";
    FixedWindow, fixed_window, try_fixed_window, infallible(FixedWindow::new),
        "admits one quota per calendar minute, hour or day.";
    SlidingLog, sliding_log, try_sliding_log, SlidingLog::try_new,
        "admits at most one quota in any window, wherever it begins.";
    SlidingCounter, sliding_counter, try_sliding_counter, infallible(SlidingCounter::new),
        "approximates the log with the memory of a fixed window. If in doubt, choose this one.";
}

/// Adapts a constructor that accepts every quota.
fn infallible<A>(new: impl Fn(Quota) -> A) -> impl Fn(Quota) -> Result<A, ConfigError> {
    move |quota| Ok(new(quota))
}
