//! The five constructors, and the one behind them.

use std::marker::PhantomData;

use super::RateLimitLayer;
use crate::{
    algorithm::{Algorithm, FixedWindow, LeakyBucket, SlidingCounter, SlidingLog, TokenBucket},
    invalid::{self, Invalid},
    limit::Limit,
    policy::PerKey,
    quota::Quota,
    respond::HttpAnswers,
    service::OnFailure,
    store::Store,
};

impl<A: Algorithm, K, St: Store> RateLimitLayer<A, K, St> {
    /// A limit by an algorithm that is configured further: anchored, with sub-windows, policing, with another capacity.
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
    /// Where [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(name: &str, algorithm: A, key: K, store: St) -> Self {
        invalid::expect(Self::try_new(name, algorithm, key, store))
    }

    /// A limit under a name of 1 to 64 of `a-z 0-9 _ . -`, or an error when the name will not do.
    pub fn try_new(name: &str, algorithm: A, key: K, store: St) -> Result<Self, Invalid> {
        let limit = Limit::try_new(name, algorithm)?;
        Ok(Self {
            first: PhantomData,
            policy: PerKey::new(limit.clone(), key),
            tiers: vec![limit],
            store,
            respond: HttpAnswers::new(),
            on_failure: OnFailure::default(),
            patience: None,
        })
    }
}

macro_rules! constructors {
    ($($algorithm:ident, $name:ident, $try_name:ident, $build:expr, $says:literal;)*) => {$(
        impl<K, St: Store> RateLimitLayer<$algorithm, K, St> {
            #[doc = concat!("A limit by [`", stringify!($algorithm), "`]: ", $says)]
            ///
            /// # Panics
            #[doc = concat!("Where [`", stringify!($try_name), "`](Self::", stringify!($try_name), ") returns an error.")]
            #[track_caller]
            pub fn $name(name: &str, quota: Quota, key: K, store: St) -> Self {
                invalid::expect(Self::$try_name(name, quota, key, store))
            }

            #[doc = concat!("The same as [`", stringify!($name), "`](Self::", stringify!($name), "),")]
            /// or an error when the name or the quota will not do.
            pub fn $try_name(name: &str, quota: Quota, key: K, store: St) -> Result<Self, Invalid> {
                Self::try_new(name, $build(quota)?, key, store)
            }
        }
    )*};
}

constructors! {
    TokenBucket, token_bucket, try_token_bucket, TokenBucket::try_new,
        "bursts of up to one quota are welcome, as long as the average holds.";
    LeakyBucket, leaky_bucket, try_leaky_bucket, LeakyBucket::try_new,
        "up to one quota of requests queues, and they leave evenly.";
    FixedWindow, fixed_window, try_fixed_window, infallible(FixedWindow::new),
        "one quota per minute, hour or day of the calendar.";
    SlidingLog, sliding_log, try_sliding_log, SlidingLog::try_new,
        "no window, wherever it begins, ever holds more than one quota.";
    SlidingCounter, sliding_counter, try_sliding_counter, infallible(SlidingCounter::new),
        "close to the log, at the price of a window. In doubt, choose this.";
}

/// A constructor that takes every quota.
fn infallible<A>(new: impl Fn(Quota) -> A) -> impl Fn(Quota) -> Result<A, Invalid> {
    move |quota| Ok(new(quota))
}
