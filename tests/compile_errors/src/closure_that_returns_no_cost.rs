use axum::{Router, extract::Request};
use tollgate::{Global, MemoryStore, Quota, RateLimitLayer};

fn main() {
    let layer = RateLimitLayer::token_bucket("uploads", Quota::per_minute(10), Global, MemoryStore::new())
        .cost(|request: &Request| request.uri().path().len());
    let _: Router = Router::new().layer(layer);
}
