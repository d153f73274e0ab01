use axum::extract::Request;
use tollgate::{Global, MemoryStore, Quota, RateLimitLayer};

fn main() {
    let _ = RateLimitLayer::token_bucket("uploads", Quota::per_minute(10), Global, MemoryStore::new())
        .cost(|request: &Request| request.uri().path().len() as u64);
}
