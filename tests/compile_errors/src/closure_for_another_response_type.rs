use axum::Router;
use tollgate::{Global, MemoryStore, Quota, RateLimitLayer, Tier};

fn main() {
    let logins =
        Tier::token_bucket("logins", Quota::per_minute(10), Global).refund_if(|response: &String| response.is_empty());
    let _: Router = Router::new().layer(RateLimitLayer::new(logins, MemoryStore::new()));
}
