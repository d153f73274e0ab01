use axum::Router;
use tollgate::{Global, MemoryStore, Quota, RateLimitLayer};

fn main() {
    let layer = RateLimitLayer::token_bucket("logins", Quota::per_minute(10), Global, MemoryStore::new())
        .refund_if(|response: &String| response.is_empty());
    let _: Router = Router::new().layer(layer);
}
