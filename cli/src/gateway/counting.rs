//! Where requests are counted, and what becomes of them while that fails.

use std::{sync::LazyLock, time::Duration};

use http::Request;
use hyper::body::Incoming;
use tokio::time::timeout;
use tollgate::{
    Charge, Decision, Fallback, FixedWindow, Key, Limit, MemoryStore, Operation, Quota, RateLimitLayer, RedisStore,
    RedisStoreBuilder, RuleSet, Store, StoreError,
};
use tower::{Layer, Service, util::BoxCloneSyncService};

use super::{
    answer::{Answer, Never},
    args::OnStoreFailure,
};
use crate::common::store::Place;

/// How long a health check waits for Redis, so that an operator knows within a second.
const HEALTH_CHECK_TIMEOUT: Duration = Duration::from_millis(500);

/// What a health check charges: so much is allowed that it always writes, since a Redis that only reads cannot count.
static HEALTH_CHECK: LazyLock<Charge> = LazyLock::new(|| {
    let limit = Limit::new("tollgate.health", FixedWindow::new(Quota::per_second(u32::MAX)));
    Charge::new(limit, Key::new("health"))
});

/// A service, whatever is around it.
pub(crate) type Boxed = BoxCloneSyncService<Request<Incoming>, Answer, Never>;

#[derive(Clone)]
pub(crate) enum Counting {
    Memory(MemoryStore),
    Redis(RedisStore, OnStoreFailure),
    Local(RedisStore, Fallback<RedisStore>),
}

impl Counting {
    pub(crate) fn at(place: &Place, on_failure: OnStoreFailure, timeout: Option<Duration>) -> Result<Self, StoreError> {
        let Place::Redis(redis) = place else {
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

    /// Puts limits around a service.
    pub(crate) fn limit<S>(&self, rules: RuleSet, service: S) -> Boxed
    where
        S: Service<Request<Incoming>, Response = Answer, Error = Never> + Clone + Send + Sync + 'static,
        S::Future: Send,
    {
        match self {
            Self::Memory(store) => boxed(RateLimitLayer::rules(rules, store.clone()), service),
            Self::Redis(store, on_failure) => {
                let layer = RateLimitLayer::rules(rules, store.clone());
                match on_failure {
                    OnStoreFailure::Closed => boxed(layer.fail_closed(), service),
                    _ => boxed(layer.fail_open(), service),
                }
            }
            Self::Local(_, store) => boxed(RateLimitLayer::rules(rules, store.clone()), service),
        }
    }

    /// What an operator asks for.
    pub(crate) async fn apply(&self, operation: Operation) -> Result<Decision, String> {
        match self {
            Self::Memory(store) => store.apply(operation).await.map_err(|never| match never {}),
            Self::Redis(store, _) => store.apply(operation).await.map_err(|error| error.to_string()),
            Self::Local(_, store) => store.apply(operation).await.map_err(|error| error.to_string()),
        }
    }

    /// Whether the store can be asked, as far as requests have shown.
    pub(crate) fn is_up(&self) -> bool {
        self.redis().is_none_or(|redis| redis.health().is_up())
    }

    /// Whether the store answers. This asks it, since without requests the circuit breaker learns nothing.
    pub(crate) async fn health(&self) -> StoreHealth {
        let Some(redis) = self.redis() else {
            return StoreHealth::new(true, "memory is up");
        };
        let asked = timeout(
            HEALTH_CHECK_TIMEOUT,
            redis.apply(Operation::Acquire(HEALTH_CHECK.clone().into())),
        );
        let answer = asked.await;
        let known = redis.health();
        match answer {
            Ok(Err(error)) if known.is_up() => StoreHealth::new(false, error),
            Err(_) if known.is_up() => {
                let address = known.servers()[0].address();
                StoreHealth::new(
                    false,
                    format_args!("{address} has not answered within {HEALTH_CHECK_TIMEOUT:?}"),
                )
            }
            _ => StoreHealth::new(known.is_up(), &known),
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
    /// Which store, and what is wrong with it.
    pub(crate) description: String,
}

impl StoreHealth {
    fn new(is_up: bool, description: impl ToString) -> Self {
        let description = description.to_string();
        Self { is_up, description }
    }
}

fn boxed<L, S>(layer: L, service: S) -> Boxed
where
    L: Layer<S>,
    L::Service: Service<Request<Incoming>, Response = Answer, Error = Never> + Clone + Send + Sync + 'static,
    <L::Service as Service<Request<Incoming>>>::Future: Send,
{
    BoxCloneSyncService::new(layer.layer(service))
}
