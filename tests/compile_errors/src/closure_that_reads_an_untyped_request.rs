use axum::Router;
use tollgate::{Key, MemoryStore, Quota, RateLimitLayer};

fn main() {
    let limit = RateLimitLayer::token_bucket(
        "path",
        Quota::per_minute(10),
        |request| Key::named("path", request.uri().path()),
        MemoryStore::new(),
    );
    let _: Router = Router::new().layer(limit);
}
