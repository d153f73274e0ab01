use axum::Router;
use tollgate::{Global, MemoryStore, Quota, RateLimitLayer};

fn main() {
    let layer =
        RateLimitLayer::token_bucket("api", Quota::per_minute(10), Global, MemoryStore::new()).exempt("/healthz");
    let _: Router = Router::new().layer(layer);
}
