//! Where requests are counted, and what becomes of them while that fails.

use http::Request;
use hyper::body::Incoming;
use tollgate::{Decision, Fallback, Health, MemoryStore, Operation, RateLimitLayer, RedisStore, RuleSet, Store};
use tower::{Layer, Service, util::BoxCloneSyncService};

use crate::{
    answer::{Answer, Never},
    arguments::{OnStoreFailure, Place},
};

/// A service, whatever is around it.
pub(crate) type Boxed = BoxCloneSyncService<Request<Incoming>, Answer, Never>;

#[derive(Clone)]
pub(crate) enum Counting {
    Memory(MemoryStore),
    Redis(RedisStore, OnStoreFailure),
    Local(RedisStore, Fallback<RedisStore>),
}

impl Counting {
    pub(crate) fn at(place: Place, on_failure: OnStoreFailure) -> Self {
        match (place, on_failure) {
            (Place::Memory, _) => Self::Memory(MemoryStore::new()),
            (Place::Redis(redis), OnStoreFailure::Local) => {
                let local = Fallback::new(RedisStore::clone(&redis), MemoryStore::new());
                Self::Local(*redis, local)
            }
            (Place::Redis(redis), on_failure) => Self::Redis(*redis, on_failure),
        }
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

    /// How its Redis is, if it has one.
    pub(crate) fn health(&self) -> Option<Health> {
        self.redis().map(RedisStore::health)
    }

    pub(crate) fn redis(&self) -> Option<&RedisStore> {
        match self {
            Self::Memory(_) => None,
            Self::Redis(redis, _) | Self::Local(redis, _) => Some(redis),
        }
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
