//! A tier: a limit, the key that it counts by, and its options.

use std::time::Duration;

#[cfg(feature = "axum")]
use super::meter::{SentBody, SettleBody, SettleByMeter};
use super::{
    charge_builder::ChargeBuilder,
    dynamic_cost::DynamicCost,
    dynamic_quota::DynamicQuota,
    options::TierOptions,
    policy::{Policy, Sealed},
    response_cost::{RefundIf, Settle},
    settlement::Settlement,
};
use crate::{
    algorithm::{Algorithm, Concurrency, FixedWindow, LeakyBucket, SlidingCounter, SlidingLog, TokenBucket},
    charge::{Charge, Settling},
    config_error::{self, ConfigError},
    extract::{IntoCost, KeyExtractor},
    key::Key,
    limit::Limit,
    quota::{Quota, QuotaUnit},
};

/// One limit of a [`RateLimitLayer`](crate::RateLimitLayer) or a [`Limiter`](crate::Limiter): its name, its algorithm, the key that
/// it counts by, and its options.
///
/// Six constructors select the algorithm; [`new`](Self::new) takes one with further settings. [`quota`](Self::quota) and
/// [`cost`](Self::cost) set the quota and the cost per request; [`refund_if`](Self::refund_if), [`settle`](Self::settle) and
/// `settle_body` correct the charge by the response; [`hidden`](Self::hidden) and [`shadow`](Self::shadow) hide the tier from clients,
/// or stop it from denying.
///
/// ```
/// use axum::extract::Request;
/// use tollgate::{FixedWindow, Header, MemoryStore, Quota, RateLimitLayer, Tier};
///
/// let user = Header::new("x-user-id");
/// let by_method = |request: &Request| if request.method().is_safe() { 1 } else { 10 };
///
/// let layer = RateLimitLayer::new(
///     Tier::new("daily", FixedWindow::new(Quota::per_day(10_000)).anchored(), user.clone()).hidden(),
///     MemoryStore::new(),
/// )
/// .tier(Tier::token_bucket("user", Quota::per_minute(100), user).cost(by_method));
/// # let _: axum::Router = axum::Router::new().layer(layer);
/// ```
///
/// `A` is the algorithm, `K` the key extractor, and `O` the [options](TierOptions): `()`, or pairs of options and one that follows them.
#[derive(Clone, Debug)]
#[must_use = "a tier does nothing unless a layer or a limiter has it"]
pub struct Tier<A, K, O = ()> {
    limit: Limit,
    algorithm: A,
    key: K,
    options: O,
    hidden: bool,
    shadow: bool,
}

impl<A: Algorithm, K> Tier<A, K> {
    /// A tier with an algorithm that has further settings: anchored, with sub-windows, policing, with another capacity.
    ///
    /// ```
    /// use tollgate::{ClientIp, FixedWindow, Quota, Tier};
    ///
    /// let a_day_from_the_first_request = FixedWindow::new(Quota::per_day(1000)).anchored();
    /// let tier = Tier::new("daily", a_day_from_the_first_request, ClientIp::peer());
    /// assert_eq!(tier.limit().name(), "daily");
    /// ```
    ///
    /// # Panics
    /// If [`try_new`](Self::try_new) returns an error.
    #[track_caller]
    pub fn new(name: &str, algorithm: A, key: K) -> Self {
        config_error::expect(Self::try_new(name, algorithm, key))
    }

    /// A tier, or an error if the name is not 1 to 64 characters of `a-z 0-9 _ . -`.
    pub fn try_new(name: &str, algorithm: A, key: K) -> Result<Self, ConfigError> {
        Ok(Self {
            limit: Limit::try_new(name, algorithm.clone())?,
            algorithm,
            key,
            options: (),
            hidden: false,
            shadow: false,
        })
    }
}

macro_rules! constructors {
    ($($algorithm:ident, $name:ident, $try_name:ident, $build:expr, $summary:literal;)*) => {$(
        impl<K> Tier<$algorithm, K> {
            #[doc = concat!("A tier with a [`", stringify!($algorithm), "`]: ", $summary)]
            ///
            /// # Panics
            #[doc = concat!("If [`", stringify!($try_name), "`](Self::", stringify!($try_name), ") returns an error.")]
            #[track_caller]
            pub fn $name(name: &str, quota: Quota, key: K) -> Self {
                config_error::expect(Self::$try_name(name, quota, key))
            }

            #[doc = concat!("Like [`", stringify!($name), "`](Self::", stringify!($name), "),")]
            /// or an error if the name or the quota is invalid.
            pub fn $try_name(name: &str, quota: Quota, key: K) -> Result<Self, ConfigError> {
                Self::try_new(name, $build(quota)?, key)
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

impl<K> Tier<Concurrency, K> {
    /// A tier with a [`Concurrency`] limit: admits requests while less than `limit` is held at once.
    ///
    /// # Panics
    /// If [`try_concurrency`](Self::try_concurrency) returns an error.
    #[track_caller]
    pub fn concurrency(name: &str, limit: u32, key: K) -> Self {
        config_error::expect(Self::try_concurrency(name, limit, key))
    }

    /// Like [`concurrency`](Self::concurrency), or an error if the name or the limit is invalid.
    pub fn try_concurrency(name: &str, limit: u32, key: K) -> Result<Self, ConfigError> {
        Self::try_new(name, Concurrency::try_new(limit)?, key)
    }
}

/// Adapts a constructor that accepts every quota.
fn infallible<A>(new: impl Fn(Quota) -> A) -> impl Fn(Quota) -> Result<A, ConfigError> {
    move |quota| Ok(new(quota))
}

impl<A, K, O> Tier<A, K, O> {
    /// The limit: the algorithm, and the name that its state is stored under.
    pub fn limit(&self) -> &Limit {
        &self.limit
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &A {
        &self.algorithm
    }

    /// The key extractor.
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Sets the quota per request; `None` keeps the tier's own.
    ///
    /// Used quota stays used when a client changes to another plan: only the allowed amount depends on the plan. A quota with
    /// another window is counted separately. If a quota is invalid for the tier's algorithm, the layer logs an error, once, and
    /// the tier keeps its own quota.
    ///
    /// ```
    /// use axum::extract::Request;
    /// use tollgate::{ClientIp, Quota, Tier};
    ///
    /// // Safe methods have a higher quota.
    /// let tier = Tier::token_bucket("client", Quota::per_minute(10), ClientIp::peer())
    ///     .quota(|request: &Request| request.method().is_safe().then_some(Quota::per_minute(1000)));
    /// # let _ = tier;
    /// ```
    ///
    /// The closure is not asynchronous. If the plan has to be looked up, let an outer layer do it once and insert the plan into
    /// the request's extensions, for this closure and for handlers:
    ///
    /// ```
    /// use axum::{Router, extract::Request, middleware::{self, Next}, response::Response, routing::get};
    /// use tollgate::{Header, MemoryStore, Quota, RateLimitLayer, Tier};
    ///
    /// #[derive(Clone, Copy)]
    /// struct Plan {
    ///     requests_per_minute: u32,
    /// }
    ///
    /// async fn find_plan(mut request: Request, next: Next) -> Response {
    ///     let plan = Plan { requests_per_minute: 1000 }; // the result of an awaited query
    ///     request.extensions_mut().insert(plan);
    ///     next.run(request).await
    /// }
    ///
    /// let user = Tier::token_bucket("user", Quota::per_minute(10), Header::new("x-user-id")).quota(|request: &Request| {
    ///     let plan = request.extensions().get::<Plan>()?;
    ///     Quota::try_per_minute(plan.requests_per_minute).ok()
    /// });
    /// let limit = RateLimitLayer::new(user, MemoryStore::new());
    /// // In axum, the layer that is added last runs first.
    /// let app: Router = Router::new().route("/", get(async || "hello")).layer(limit).layer(middleware::from_fn(find_plan));
    /// # let _ = app;
    /// ```
    pub fn quota<Req, Q, F>(self, quota: F) -> Tier<A, K, (O, DynamicQuota<F>)>
    where
        F: Fn(&Req) -> Q,
        Q: Into<Option<Quota>>,
    {
        self.with(DynamicQuota::new(quota))
    }

    /// Sets the cost of a request, 1 by default: by a closure, or a [`CostExtractor`](crate::CostExtractor).
    ///
    /// A cost of 0 charges nothing. A cost above the capacity of the tier can never be admitted: the request is denied with
    /// 429, without `Retry-After`. If the cost depends on the body, like the size of a batch, let an outer layer read it and
    /// insert the cost into the request's extensions, like a [quota](Self::quota) that is looked up; or [settle](Self::settle)
    /// the charge afterwards.
    ///
    /// ```
    /// use axum::extract::Request;
    /// use tollgate::{ContentLength, Header, Quota, Tier};
    ///
    /// let user = Header::new("x-user-id");
    /// let requests = Tier::token_bucket("user", Quota::per_minute(100), user.clone())
    ///     .cost(|request: &Request| if request.method().is_safe() { 1 } else { 10 });
    /// let uploads = Tier::token_bucket("uploads", Quota::per_minute(10_000_000), user).cost(ContentLength::or(100_000));
    /// # let layer = tollgate::RateLimitLayer::new(requests, tollgate::MemoryStore::new()).tier(uploads);
    /// # let _: axum::Router = axum::Router::new().layer(layer);
    /// ```
    pub fn cost<C>(self, cost: C) -> Tier<A, K, (O, DynamicCost<C>)> {
        self.with(DynamicCost(cost))
    }

    /// Names what the tier counts, for clients (`qu` of `RateLimit-Policy`): requests by default, and `content-bytes` if the
    /// cost is the [`ContentLength`](crate::ContentLength).
    pub fn quota_unit(self, unit: QuotaUnit) -> Self {
        self.limit.set_unit(unit);
        self
    }

    /// Refunds the charge if a closure returns true for the response: to count only failures, or only successes.
    ///
    /// The charge is taken before the request is served, so that concurrent requests cannot exceed the limit, and refunded
    /// before the response is passed on, whose headers contain the state after the refund. The charge stays if there is no
    /// response (the inner service returns an error, or the client disconnects), or if the store fails. A place in the queue of
    /// a leaky bucket is refunded only while no other request is queued behind it; for logins, choose another algorithm.
    ///
    /// ```
    /// use axum::response::Response;
    /// use tollgate::{ClientIp, Quota, Tier};
    ///
    /// // Five failed logins in 15 minutes; successful ones are refunded.
    /// let quota = Quota::new(5, std::time::Duration::from_secs(15 * 60));
    /// let logins = Tier::sliding_log("logins", quota, ClientIp::peer())
    ///     .refund_if(|response: &Response| response.status().is_success());
    /// // Requests that fail with a server error are not counted.
    /// let api = Tier::token_bucket("api", Quota::per_minute(100), ClientIp::peer())
    ///     .refund_if(|response: &Response| response.status().is_server_error());
    /// # let layer = tollgate::RateLimitLayer::new(logins, tollgate::MemoryStore::new()).tier(api);
    /// # let _: axum::Router = axum::Router::new().layer(layer);
    /// ```
    pub fn refund_if<Res, F>(self, refund: F) -> Tier<A, K, (O, RefundIf<F>)>
    where
        F: Fn(&Res) -> bool,
    {
        self.with(RefundIf(refund))
    }

    /// Corrects the charge to the cost that a closure returns for the response; `None` keeps it.
    ///
    /// If the charge was too high, the difference is refunded. If it was too low, the difference is charged even if the limit
    /// is exhausted, up to twice its capacity, at the expense of later requests. So [charge](Self::cost) an estimate that is
    /// rather too high. A cost of 0 is not charged, and so not corrected. Apart from that, it works like
    /// [`refund_if`](Self::refund_if); if a tier has several corrections, the last one that returns a cost applies.
    ///
    /// ```
    /// use axum::response::Response;
    /// use tollgate::{Header, Quota, Tier};
    ///
    /// let tokens = Tier::token_bucket("tokens", Quota::per_minute(10_000), Header::new("x-user-id"))
    ///     .cost(|_: &axum::extract::Request| 500) // an estimate
    ///     .settle(|response: &Response| response.headers().get("x-tokens")?.to_str().ok()?.parse().ok());
    /// # let layer = tollgate::RateLimitLayer::new(tokens, tollgate::MemoryStore::new());
    /// # let _: axum::Router = axum::Router::new().layer(layer);
    /// ```
    pub fn settle<Res, C, F>(self, cost: F) -> Tier<A, K, (O, Settle<F>)>
    where
        F: Fn(&Res) -> C,
        C: IntoCost,
    {
        self.with(Settle(cost))
    }

    /// Corrects the charge when the response body ends: to the number of bytes sent, or to a count of the handler. It requires axum's
    /// body type.
    ///
    /// If the body ends early, with an error or because the client disconnects before the last frame is handed on, the charge is
    /// corrected only upwards: to the cost of what was sent until then if that exceeds the charge, otherwise it stays as it was.
    /// It stays, too, if the body is never polled, as in responses to `HEAD`. Until the body ends, only the estimate is charged,
    /// so bound what a client can receive in one response by other means. What was handed on to the connection counts as sent,
    /// although some of it may still be in buffers when the client disconnects.
    ///
    /// The correction runs in the background, and the headers of the response, which are sent before the body, contain the state
    /// before it. A charge that the response itself has corrected, by [`refund_if`](Self::refund_if) or
    /// [`settle`](Self::settle), is not corrected again.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// use axum::extract::Request;
    /// use tollgate::{Header, Quota, SentBody, Tier};
    ///
    /// let user = Header::new("x-user-id");
    /// let traffic = Tier::token_bucket("traffic", Quota::per_minute(10_000_000), user.clone())
    ///     .cost(|_: &Request| 50_000) // an estimate
    ///     .settle_body(|sent: &SentBody| sent.bytes());
    ///
    /// /// A counter that a handler puts into the extensions of its response, and increments while the body streams.
    /// #[derive(Clone, Default)]
    /// struct Tokens(Arc<AtomicU64>);
    ///
    /// let tokens = Tier::token_bucket("tokens", Quota::per_minute(10_000), user)
    ///     .cost(|_: &Request| 500)
    ///     .settle_body(|sent: &SentBody| Some(sent.extensions().get::<Tokens>()?.0.load(Ordering::Relaxed)));
    /// # let layer = tollgate::RateLimitLayer::new(traffic, tollgate::MemoryStore::new()).tier(tokens);
    /// # let _: axum::Router = axum::Router::new().layer(layer);
    /// ```
    #[cfg(feature = "axum")]
    pub fn settle_body<C, F>(self, cost: F) -> Tier<A, K, (O, SettleBody<F>)>
    where
        F: Fn(&SentBody) -> C,
        C: IntoCost,
    {
        self.with(SettleBody(cost))
    }

    /// Corrects the charge when the response body ends, to the cost that a [meter](crate::BodyMeter) has read in it while it was sent:
    /// to a [number that the response states](crate::JsonUsage), or to an estimate. It requires axum's body type.
    ///
    /// The meter determines the cost of a body that ends early, too, which may be lower than the charge. Otherwise it works like
    /// [`settle_body`](Self::settle_body). Since a compressed body cannot be read, [`HttpResponder`](crate::HttpResponder) forwards
    /// such requests with `Accept-Encoding: identity`; put layers that compress outside of this one.
    ///
    /// ```
    /// use axum::{extract::Request, response::Response};
    /// use tollgate::{Header, JsonUsage, Quota, Tier};
    ///
    /// // A request reserves 4,000 tokens, and is settled to what its answer used. A failed one used none.
    /// let tokens = Tier::token_bucket("tokens", Quota::per_minute(100_000), Header::new("x-tenant"))
    ///     .cost(|_: &Request| 4_000)
    ///     .refund_if(|response: &Response| !response.status().is_success())
    ///     .meter_body(JsonUsage::openai());
    /// # let layer = tollgate::RateLimitLayer::new(tokens, tollgate::MemoryStore::new());
    /// # let _: axum::Router = axum::Router::new().layer(layer);
    /// ```
    #[cfg(feature = "axum")]
    pub fn meter_body<M>(self, meter: M) -> Tier<A, K, (O, SettleByMeter<M>)> {
        self.with(SettleByMeter(meter))
    }

    /// Lets each node decide about a busy key by itself for up to this time: it charges several units at once, and spends them without
    /// asking Redis. No request too many is admitted.
    ///
    /// Use it for keys that many requests share. [The guide](crate::guide::leases) says what it buys, what it costs, and how to choose
    /// the time; 100 ms suits a limit per minute. The memory store decides as without a lease, but by the same rule as Redis: a bucket's
    /// capacity is smaller by what it refills in that time, and a log's window is longer by that time. A leaky bucket that queues is not
    /// leased, and neither is a bucket whose capacity would be used up.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tollgate::{Global, Quota, Tier};
    ///
    /// let everyone = Tier::sliding_counter("everyone", Quota::per_minute(600_000), Global).lease(Duration::from_millis(100));
    /// # let _ = everyone;
    /// ```
    ///
    /// # Panics
    /// If [`try_lease`](Self::try_lease) returns an error.
    #[track_caller]
    pub fn lease(self, time: Duration) -> Self {
        config_error::expect(self.try_lease(time))
    }

    /// Like [`lease`](Self::lease), or an error if the time is not from a millisecond to a minute.
    pub fn try_lease(self, time: Duration) -> Result<Self, ConfigError> {
        let limit = self.limit.try_lease(time)?;
        Ok(Self { limit, ..self })
    }

    /// Hides the tier from clients: a global tier would reveal how busy the service is.
    pub fn hidden(self) -> Self {
        let hidden = true;
        Self { hidden, ..self }
    }

    /// Makes the tier a shadow: it is evaluated and reported, but neither denies nor delays. Use it to try out a limit on live traffic.
    ///
    /// A request that a shadow would have denied is logged (`tracing`, at debug level), and the [`Decision`](crate::Decision)
    /// that handlers receive contains the shadow's verdict; responses do not. A shadow is charged only if it admits the request
    /// and the request as a whole is admitted. A request without the key of a shadow passes, too.
    ///
    /// ```
    /// use tollgate::{ClientIp, Header, MemoryStore, Quota, RateLimitLayer, Tier};
    ///
    /// let tenant = Tier::token_bucket("tenant", Quota::per_minute(1000), Header::new("x-tenant"));
    /// let layer = RateLimitLayer::token_bucket("client", Quota::per_minute(100), ClientIp::peer(), MemoryStore::new())
    ///     .tier(tenant.shadow()); // until we know which tenants it would deny
    /// # let _: axum::Router = axum::Router::new().layer(layer);
    /// ```
    pub fn shadow(self) -> Self {
        let shadow = true;
        Self { shadow, ..self }
    }

    /// Replaces the algorithm, the key extractor and the options by others that have the same effect.
    pub(super) fn map<B, L, P>(
        self,
        algorithm: impl FnOnce(A) -> B,
        key: impl FnOnce(K) -> L,
        options: impl FnOnce(O) -> P,
    ) -> Tier<B, L, P> {
        Tier {
            limit: self.limit,
            algorithm: algorithm(self.algorithm),
            key: key(self.key),
            options: options(self.options),
            hidden: self.hidden,
            shadow: self.shadow,
        }
    }

    fn with<P>(self, option: P) -> Tier<A, K, (O, P)> {
        self.map(|algorithm| algorithm, |key| key, |options| (options, option))
    }

    /// A charge of 1 for a key.
    pub(crate) fn charge_for(&self, key: Key) -> Charge {
        Charge {
            hidden: self.hidden,
            shadow: self.shadow,
            ..Charge::new(self.limit.clone(), key)
        }
    }
}

impl<A, K, O> Sealed for Tier<A, K, O> {}

impl<Req, Res, A, K, O> Policy<Req, Res> for Tier<A, K, O>
where
    K: KeyExtractor<Req>,
    O: TierOptions<Req, Res>,
{
    fn charge(&self, request: &Req, charges: &mut ChargeBuilder) {
        match self.key.extract_optional(request) {
            Ok(Some(key)) => {
                let mut charge = self.charge_for(key);
                charge.settling = Settling::by(self.options.may_settle(), self.options.reads_body());
                self.options.adjust(request, &mut charge);
                charges.push(charge);
            }
            Ok(None) => {}
            // A shadow rejects no request.
            Err(_) if self.shadow => {}
            Err(error) => charges.push_missing_key(error),
        }
    }

    fn settle(&self, response: &mut Res, settlement: &mut Settlement<'_>) {
        let Some(mut settlement) = settlement.tier(self.limit.name()) else {
            return;
        };
        match self.options.response_cost(response) {
            Some(cost) => settlement.settle(cost),
            None => self.options.settle_at_end(response, &mut settlement),
        }
    }
}
