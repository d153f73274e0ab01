//! tollgate: its layer around a service, on Redis with the default settings, or in the memory of the node.

use std::{convert::Infallible, time::Duration};

use axum::{body::Body, extract::Request, response::Response};
use tollgate::{Global, MemoryStore, Quota, RateLimitLayer, RedisStore, Tier};
use tower::{Layer, Service, ServiceExt, service_fn};

use super::Limiter;
use crate::{
    answer::Answer,
    limits::{LIMIT, WINDOW},
};

/// As long as the period of the schemes that synchronise.
const LEASE: Duration = Duration::from_millis(100);

fn quota() -> Quota {
    Quota::new(LIMIT, WINDOW)
}

/// Connects as the guide recommends: a wrong address is an error at start-up.
async fn redis(url: &str) -> RedisStore {
    let store = RedisStore::connect(url).expect("a valid address");
    store.check().await.expect("Redis is up");
    store
}

pub async fn fixed_window(url: &str) -> Limiter {
    serve(RateLimitLayer::fixed_window("limit", quota(), Global, redis(url).await))
}

pub async fn fixed_window_leased(url: &str) -> Limiter {
    let tier = Tier::fixed_window("limit", quota(), Global).lease(LEASE);
    serve(RateLimitLayer::new(tier, redis(url).await))
}

pub async fn sliding_counter(url: &str) -> Limiter {
    serve(RateLimitLayer::sliding_counter(
        "limit",
        quota(),
        Global,
        redis(url).await,
    ))
}

pub async fn token_bucket(url: &str) -> Limiter {
    serve(RateLimitLayer::token_bucket("limit", quota(), Global, redis(url).await))
}

/// Fails open, which is the default.
pub async fn sliding_log(url: &str) -> Limiter {
    serve(RateLimitLayer::sliding_log("limit", quota(), Global, redis(url).await))
}

pub async fn sliding_log_fail_closed(url: &str) -> Limiter {
    serve(RateLimitLayer::sliding_log("limit", quota(), Global, redis(url).await).fail_closed())
}

pub async fn sliding_log_fallback(url: &str) -> Limiter {
    let layer = RateLimitLayer::sliding_log("limit", quota(), Global, redis(url).await);
    serve(layer.fallback(MemoryStore::new()))
}

pub async fn sliding_log_in_memory(_: &str) -> Limiter {
    serve(RateLimitLayer::sliding_log(
        "limit",
        quota(),
        Global,
        MemoryStore::new(),
    ))
}

/// The layer around a service that responds at once.
fn serve<L, S>(layer: L) -> Limiter
where
    L: Layer<Handler, Service = S>,
    S: Service<Request, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static,
{
    let handler: Handler = service_fn(|_| std::future::ready(Ok(Response::new(Body::empty()))));
    let service = layer.layer(handler);
    Limiter::new(move || {
        let response = service.clone().oneshot(Request::new(Body::empty()));
        async move {
            let Ok(response) = response.await;
            Answer::from_status(response.status().as_u16())
        }
    })
}

type Handler = tower::util::ServiceFn<fn(Request) -> std::future::Ready<Result<Response, Infallible>>>;
