//! axum-limit: a route with its extractor, on its Redis backend.

use axum::{Router, body::Body, extract::Request, http::Uri, routing::get};
use axum_limit::{FixedWindowLimit, FixedWindowPolicy, Limit, LimitState, RedisBackend, TokenBucketPolicy};
use tower::ServiceExt;

use super::Limiter;
use crate::{
    answer::Answer,
    limits::{LIMIT, WINDOW},
};

const COUNT: usize = LIMIT as usize;
const MILLISECONDS: u64 = WINDOW.as_millis() as u64;

pub async fn token_bucket(url: &str) -> Limiter {
    async fn handler(_: Limit<COUNT, MILLISECONDS, Uri, RedisBackend>) {}
    let state = LimitState::<Uri, TokenBucketPolicy, RedisBackend>::new(connect(url).await);
    serve(Router::new().route("/", get(handler)).with_state(state))
}

pub async fn fixed_window(url: &str) -> Limiter {
    async fn handler(_: FixedWindowLimit<COUNT, MILLISECONDS, Uri, RedisBackend>) {}
    let state = LimitState::<Uri, FixedWindowPolicy, RedisBackend>::new(connect(url).await);
    serve(Router::new().route("/", get(handler)).with_state(state))
}

async fn connect(url: &str) -> RedisBackend {
    RedisBackend::connect(url).await.expect("Redis is up")
}

fn serve(router: Router) -> Limiter {
    Limiter::new(move || {
        let response = router.clone().oneshot(Request::new(Body::empty()));
        async move {
            let Ok(response) = response.await;
            Answer::from_status(response.status().as_u16())
        }
    })
}
