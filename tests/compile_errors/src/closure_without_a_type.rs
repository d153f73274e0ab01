use axum::{Router, extract::Request};
use tollgate::{Key, MemoryStore, Quota, RateLimitLayer};

fn tenant(request: &Request) -> Key {
    Key::named("tenant", request.uri().path())
}

fn main() {
    let limit = RateLimitLayer::token_bucket(
        "tenant",
        Quota::per_minute(10),
        |request| tenant(request),
        MemoryStore::new(),
    );
    let _: Router = Router::new().layer(limit);
}
