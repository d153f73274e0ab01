//! The store of a server, and what happens to requests while it fails.

use std::{convert::Infallible, sync::LazyLock, time::Duration};

use http::Request;
use tokio::time::timeout;
use tollgate::{
    Charge, Decision, Fallback, FixedWindow, Key, Limit, MemoryStore, Operation, Quota, RedisStore, RedisStoreBuilder,
    Respond, RuleSet, RulesLayer, Store, StoreError, policy::Policy,
};
use tower::{Layer, Service, util::BoxCloneSyncService};

use super::{args::OnStoreFailure, response::ServerResponse};
use crate::common::store::StoreConfig;

/// Bounds a health check, so that an operator gets the result within a second.
const HEALTH_CHECK_TIMEOUT: Duration = Duration::from_millis(500);

/// The charge of a health check. The quota is so large that it is always admitted and written: a read-only Redis is not healthy.
static HEALTH_CHECK: LazyLock<Charge> = LazyLock::new(|| {
    let limit = Limit::new("tollgate.health", FixedWindow::new(Quota::per_second(u32::MAX)));
    Charge::new(limit, Key::new("health"))
});

pub(crate) type BoxedService<B> = BoxCloneSyncService<Request<B>, ServerResponse, Infallible>;

#[derive(Clone)]
pub(crate) enum ServerStore {
    Memory(MemoryStore),
    Redis(RedisStore, OnStoreFailure),
    Local(RedisStore, Fallback<RedisStore>),
}

impl ServerStore {
    pub(crate) fn new(
        config: &StoreConfig,
        on_failure: OnStoreFailure,
        timeout: Option<Duration>,
    ) -> Result<Self, StoreError> {
        let StoreConfig::Redis(redis) = config else {
            return Ok(Self::Memory(MemoryStore::new()));
        };
        let redis = timeout.into_iter().fold(redis.builder(), RedisStoreBuilder::deadline);
        let redis = redis.build()?;
        Ok(match on_failure {
            OnStoreFailure::Local => {
                let local = Fallback::new(redis.clone(), MemoryStore::new());
                Self::Local(redis, local)
            }
            on_failure => Self::Redis(redis, on_failure),
        })
    }

    /// Wraps a service of requests that rules apply to in the rate limit layer.
    pub(crate) fn rate_limit<Req, R, S>(
        &self,
        rules: RuleSet,
        responder: R,
        service: S,
    ) -> BoxCloneSyncService<Req, S::Response, S::Error>
    where
        Req: Send + 'static,
        R: Respond<Req, S::Response, S::Error, Context: Send> + Clone + Send + Sync + 'static,
        S: Service<Req, Response: Send, Error: Send, Future: Send + 'static> + Clone + Send + Sync + 'static,
        RuleSet: Policy<Req, S::Response>,
    {
        match self {
            Self::Memory(store) => boxed(RulesLayer::new(rules, store.clone()).respond_with(responder), service),
            Self::Redis(store, on_failure) => {
                let layer = RulesLayer::new(rules, store.clone()).respond_with(responder);
                match on_failure {
                    OnStoreFailure::Closed => boxed(layer.fail_closed(), service),
                    _ => boxed(layer.fail_open(), service),
                }
            }
            Self::Local(_, store) => boxed(RulesLayer::new(rules, store.clone()).respond_with(responder), service),
        }
    }

    /// Applies an operation of an operator.
    pub(crate) async fn apply(&self, operation: Operation) -> Result<Decision, String> {
        match self {
            Self::Memory(store) => store.apply(operation).await.map_err(|never| match never {}),
            Self::Redis(store, _) => store.apply(operation).await.map_err(|error| error.to_string()),
            Self::Local(_, store) => store.apply(operation).await.map_err(|error| error.to_string()),
        }
    }

    /// Whether the circuit breaker is closed, as of the last requests.
    pub(crate) fn is_up(&self) -> bool {
        self.redis().is_none_or(|redis| redis.health().is_up())
    }

    /// Calls the store, since the circuit breaker does not notice an outage without requests.
    pub(crate) async fn check_health(&self) -> StoreHealth {
        let Some(redis) = self.redis() else {
            return StoreHealth::new(true, "memory is up");
        };
        let probe = timeout(
            HEALTH_CHECK_TIMEOUT,
            redis.apply(Operation::Acquire(HEALTH_CHECK.clone().into())),
        );
        let result = probe.await;
        let health = redis.health();
        match result {
            Ok(Err(error)) if health.is_up() => StoreHealth::new(false, error),
            Err(_) if health.is_up() => {
                let address = health.nodes()[0].address();
                StoreHealth::new(
                    false,
                    format_args!("{address} did not respond within {HEALTH_CHECK_TIMEOUT:?}"),
                )
            }
            _ => StoreHealth::new(health.is_up(), &health),
        }
    }

    /// Returns what this process holds, so that others need not wait until it expires: slots whose requests have just ended, and units of
    /// leases. Bounded by the deadline of the store.
    pub(crate) async fn return_held(&self) {
        if let Some(redis) = self.redis() {
            // Calls are sent in order, so the releases have been sent when this one is answered.
            redis.apply(Operation::Peek(HEALTH_CHECK.clone().into())).await.ok();
            redis.return_leases().await;
        }
    }

    /// What happens to requests while Redis fails.
    pub(crate) fn on_failure(&self) -> Option<OnStoreFailure> {
        match self {
            Self::Memory(_) => None,
            Self::Redis(_, on_failure) => Some(*on_failure),
            Self::Local(..) => Some(OnStoreFailure::Local),
        }
    }

    pub(crate) fn redis(&self) -> Option<&RedisStore> {
        match self {
            Self::Memory(_) => None,
            Self::Redis(redis, _) | Self::Local(redis, _) => Some(redis),
        }
    }
}

pub(crate) struct StoreHealth {
    pub(crate) is_up: bool,
    /// The store, and why it is down.
    pub(crate) description: String,
}

impl StoreHealth {
    fn new(is_up: bool, description: impl ToString) -> Self {
        let description = description.to_string();
        Self { is_up, description }
    }
}

fn boxed<L, S, Req>(layer: L, service: S) -> BoxCloneSyncService<Req, S::Response, S::Error>
where
    L: Layer<S>,
    L::Service:
        Service<Req, Response = S::Response, Error = S::Error, Future: Send + 'static> + Clone + Send + Sync + 'static,
    S: Service<Req>,
{
    BoxCloneSyncService::new(layer.layer(service))
}
