use axum::{Router, routing::get};
use tollgate::{MemoryStore, Quota, RateLimitLayer};

fn main() {
    let limit = RateLimitLayer::sliding_counter("user", Quota::per_minute(100), 42, MemoryStore::new());
    let _: Router = Router::new().route("/", get(async || ())).layer(limit);
}
