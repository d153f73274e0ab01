use axum::{Router, routing::get};
use tollgate::{Global, MemoryStore, Quota, RateLimitLayer, Tier};

#[derive(Clone)]
struct User;

fn main() {
    let limit = RateLimitLayer::sliding_counter("all", Quota::per_minute(100), Global, MemoryStore::new())
        .tier(Tier::token_bucket("user", Quota::per_minute(10), User));
    let _: Router = Router::new().route("/", get(async || ()).layer(limit));
}
