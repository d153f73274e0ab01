use axum::{Router, extract::Request, routing::get};
use tollgate::{MemoryStore, Quota, RateLimitLayer};

fn main() {
    let path = |request: &Request| request.uri().path().to_owned();
    let limit = RateLimitLayer::sliding_counter("path", Quota::per_minute(100), path, MemoryStore::new());
    let _: Router = Router::new().route("/", get(async || ())).layer(limit);
}
