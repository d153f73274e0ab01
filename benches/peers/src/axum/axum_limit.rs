//! The other side: a route with axum-limit's extractor on its Redis store, with its response headers.

use std::convert::Infallible;

use axum::{
    Router,
    extract::{FromRequestParts, Request},
    http::request::Parts,
    response::IntoResponse,
    routing::get,
};
use axum_limit::{Key, Limit, LimitState, RedisBackend, StorageKey, TokenBucketPolicy, rate_limit_headers_from_parts};

/// The same limit as ours: a capacity of a billion, refilled by one per second.
const LIMIT: usize = 1_000_000_000;
const MILLISECONDS: u64 = 1_000_000_000_000;

#[derive(Clone)]
struct User(String);

impl<S: Sync> FromRequestParts<S> for User {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let user = parts.headers.get("x-user-id").and_then(|user| user.to_str().ok());
        Ok(Self(user.unwrap_or("anonymous").to_owned()))
    }
}

impl Key for User {
    type Extractor = Self;

    fn from_extractor(user: &Self) -> Self {
        user.clone()
    }
}

impl StorageKey for User {
    fn storage_key(&self) -> String {
        self.0.clone()
    }
}

async fn handler(_: Limit<LIMIT, MILLISECONDS, User, RedisBackend>, request: Request) -> impl IntoResponse {
    let (parts, _) = request.into_parts();
    (rate_limit_headers_from_parts(&parts), "hello")
}

pub async fn router(path: &str, redis: &str) -> Router {
    let redis = RedisBackend::connect(redis).await.expect("Redis is up");
    let state = LimitState::<User, TokenBucketPolicy, RedisBackend>::new(redis);
    Router::new().route(path, get(handler)).with_state(state)
}
