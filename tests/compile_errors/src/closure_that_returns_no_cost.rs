use axum::{Router, extract::Request};
use tollgate::{Global, MemoryStore, Quota, RateLimitLayer, Tier};

fn main() {
    let uploads = Tier::token_bucket("uploads", Quota::per_minute(10), Global)
        .cost(|request: &Request| request.uri().path().len());
    let _: Router = Router::new().layer(RateLimitLayer::new(uploads, MemoryStore::new()));
}
