//! The constructors of a layer.

use super::RateLimitLayer;
use crate::{
    algorithm::{Concurrency, FixedWindow, LeakyBucket, SlidingCounter, SlidingLog, TokenBucket},
    config_error::{self, ConfigError},
    policy::Tier,
    quota::Quota,
    respond::HttpResponder,
    service::Settings,
    store::Store,
};

impl<A, K, O, St: Store> RateLimitLayer<A, K, St, HttpResponder, O> {
    /// A layer with one tier, which may have options, and an algorithm with further settings.
    ///
    /// ```
    /// use tollgate::{ClientIp, FixedWindow, MemoryStore, Quota, RateLimitLayer, Tier};
    ///
    /// let a_day_from_the_first_request = FixedWindow::new(Quota::per_day(1000)).anchored();
    /// let daily = Tier::new("daily", a_day_from_the_first_request, ClientIp::peer()).hidden();
    /// let layer = RateLimitLayer::new(daily, MemoryStore::new());
    /// # let _ = layer;
    /// ```
    pub fn new(tier: Tier<A, K, O>, store: St) -> Self {
        Self {
            limits: vec![tier.limit().clone()],
            first: tier,
            rest: (),
            settings: Settings::new(store),
        }
    }
}

macro_rules! constructors {
    ($($algorithm:ident, $name:ident, $try_name:ident, $summary:literal;)*) => {$(
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
                Ok(Self::new(Tier::$try_name(name, quota, key)?, store))
            }
        }
    )*};
}

constructors! {
    TokenBucket, token_bucket, try_token_bucket,
        "admits bursts of up to one quota, and the rate of the quota on average. In one window that is up to twice the quota: \
         see [`TokenBucket`].";
    LeakyBucket, leaky_bucket, try_leaky_bucket,
        "queues up to one quota of requests, and releases them at a constant rate.";
    FixedWindow, fixed_window, try_fixed_window,
        "admits one quota per calendar minute, hour or day.";
    SlidingLog, sliding_log, try_sliding_log,
        "admits at most one quota in any window, wherever it begins.";
    SlidingCounter, sliding_counter, try_sliding_counter,
        "approximates the log with the memory of a fixed window. If in doubt, choose this one.";
}

impl<K, St: Store> RateLimitLayer<Concurrency, K, St> {
    /// A layer with a [`Concurrency`] limit: admits requests while less than `limit` is held at once. A request holds its slot until its
    /// response body has ended.
    ///
    /// ```
    /// use tollgate::{Header, MemoryStore, Quota, RateLimitLayer, Tier};
    ///
    /// let user = Header::new("x-user-id");
    /// let uploads = RateLimitLayer::concurrency("uploads", 20, user.clone(), MemoryStore::new())
    ///     .tier(Tier::token_bucket("uploads-per-minute", Quota::per_minute(100), user));
    /// # let _: axum::Router = axum::Router::new().layer(uploads);
    /// ```
    ///
    /// # Panics
    /// If [`try_concurrency`](Self::try_concurrency) returns an error.
    #[track_caller]
    pub fn concurrency(name: &str, limit: u32, key: K, store: St) -> Self {
        config_error::expect(Self::try_concurrency(name, limit, key, store))
    }

    /// Like [`concurrency`](Self::concurrency), or an error if the name or the limit is invalid.
    pub fn try_concurrency(name: &str, limit: u32, key: K, store: St) -> Result<Self, ConfigError> {
        Ok(Self::new(Tier::try_concurrency(name, limit, key)?, store))
    }
}
