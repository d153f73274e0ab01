//! The layer of a rules file.

use std::{fmt, time::Duration};

use tower_layer::Layer;

use crate::{
    policy::RequestFilter,
    respond::HttpResponder,
    rules::RuleSet,
    service::{OnFailure, RateLimit, Settings},
    store::{Fallback, MemoryStore, Store},
};

/// Limits the rate of requests to the service it wraps, by the limits of a [rules file](crate::rules), charged together, all or none.
///
/// The file contains all limits, with their keys, costs, plans and outcomes. The methods are those of a
/// [`RateLimitLayer`](crate::RateLimitLayer) that apply to all limits. For limits in code, wrap the service in both layers.
///
/// ```no_run
/// use axum::{Router, routing::get};
/// use tollgate::{MemoryStore, RuleSet, RulesLayer};
///
/// let rules = RuleSet::watch("rules.toml")?;
/// let app: Router = Router::new()
///     .route("/api/search", get(async || "found"))
///     .layer(RulesLayer::new(rules, MemoryStore::new()).fail_closed());
/// # let _ = app;
/// # Ok::<(), tollgate::RulesError>(())
/// ```
///
/// `St` is the store, `R` the responder, and `F` the [filters](crate::policy): `RulesLayer<RedisStore>` is a type that can be written.
#[derive(Clone)]
#[must_use = "a layer does nothing unless it wraps a service"]
pub struct RulesLayer<St = MemoryStore, R = HttpResponder, F = ()> {
    rules: RuleSet,
    filters: F,
    settings: Settings<St, R>,
}

impl<St: Store> RulesLayer<St> {
    /// A layer with these rules.
    pub fn new(rules: RuleSet, store: St) -> Self {
        Self {
            rules,
            filters: (),
            settings: Settings::new(store),
        }
    }
}

impl<St, R, F> RulesLayer<St, R, F> {
    /// The rules. A limit is added in their file, or by [`RuleSet::replace`].
    pub fn rules(&self) -> &RuleSet {
        &self.rules
    }

    /// Exempts matching requests, like [`RateLimitLayer::exempt`](crate::RateLimitLayer::exempt).
    pub fn exempt<M>(self, requests: M) -> RulesLayer<St, R, (F, RequestFilter<M>)> {
        self.with(RequestFilter::exempt(requests))
    }

    /// Rejects matching requests with 403, like [`RateLimitLayer::block`](crate::RateLimitLayer::block).
    pub fn block<M>(self, requests: M) -> RulesLayer<St, R, (F, RequestFilter<M>)> {
        self.with(RequestFilter::block(requests))
    }

    /// Replaces the responder, like [`RateLimitLayer::respond_with`](crate::RateLimitLayer::respond_with).
    pub fn respond_with<U>(self, respond: U) -> RulesLayer<St, U, F> {
        self.map_settings(|settings| settings.respond_with(respond))
    }

    /// Admits requests unchecked while the store fails, which is the default, like
    /// [`RateLimitLayer::fail_open`](crate::RateLimitLayer::fail_open).
    pub fn fail_open(self) -> Self {
        self.map_settings(|settings| settings.on_failure(OnFailure::Open))
    }

    /// Rejects requests while the store fails, like [`RateLimitLayer::fail_closed`](crate::RateLimitLayer::fail_closed).
    pub fn fail_closed(self) -> Self {
        self.map_settings(|settings| settings.on_failure(OnFailure::Closed))
    }

    /// Falls back to a memory store while the store fails, like [`RateLimitLayer::fallback`](crate::RateLimitLayer::fallback).
    pub fn fallback(self, memory: MemoryStore) -> RulesLayer<Fallback<St>, R, F> {
        self.map_settings(|settings| settings.fallback(memory))
    }

    /// Makes requests that would be denied wait for up to `max_wait`, like [`RateLimitLayer::wait`](crate::RateLimitLayer::wait).
    pub fn wait(self, max_wait: Duration) -> Self {
        self.map_settings(|settings| settings.wait(max_wait))
    }

    /// The maximal number of requests that [wait](Self::wait) for one key: 100 by default, at least 1.
    pub fn max_waiters(self, max_waiters: usize) -> Self {
        self.map_settings(|settings| settings.max_waiters(max_waiters))
    }

    /// Cannot be called: the compiler's error says where the limit has to be written.
    #[doc(hidden)]
    pub fn tier<T: InRulesFile>(self, _: T) -> Self {
        self
    }

    fn with<G>(self, filter: G) -> RulesLayer<St, R, (F, G)> {
        RulesLayer {
            rules: self.rules,
            filters: (self.filters, filter),
            settings: self.settings,
        }
    }

    fn map_settings<S, U>(self, map: impl FnOnce(Settings<St, R>) -> Settings<S, U>) -> RulesLayer<S, U, F> {
        RulesLayer {
            rules: self.rules,
            filters: self.filters,
            settings: map(self.settings),
        }
    }
}

/// Implemented by no type. It has the text of the error for a [tier](RulesLayer::tier) in code.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a `RulesLayer` has the limits of its rules file, and no tiers in code",
    label = "write this limit in the rules file",
    note = "in the rules file: `[[limit]]` with `name`, `algorithm`, `limit`, `window` and `key`",
    note = "in code: wrap the service in another layer, `RateLimitLayer::new(tier, store)`"
)]
pub trait InRulesFile {}

impl<S, St: Clone, R: Clone, F: Clone> Layer<S> for RulesLayer<St, R, F> {
    type Service = RateLimit<S, (RuleSet, F), St, R>;

    fn layer(&self, inner: S) -> Self::Service {
        let policy = (self.rules.clone(), self.filters.clone());
        RateLimit::with_policy(inner, policy, self.settings.clone())
    }
}

impl<St: fmt::Debug, R, F> fmt::Debug for RulesLayer<St, R, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RulesLayer")
            .field("rules", &self.rules)
            .field("store", &self.settings.store)
            .field("on_failure", &self.settings.on_failure)
            .finish_non_exhaustive()
    }
}
