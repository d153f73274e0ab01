use tollgate::{Global, Quota, RateLimitLayer};

fn main() {
    RateLimitLayer::sliding_counter("all", Quota::per_minute(100), Global, "redis://127.0.0.1:6379");
}
