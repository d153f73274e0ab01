use tollgate::{Global, MemoryStore, Quota, RateLimitLayer};

fn main() {
    RateLimitLayer::new("all", Quota::per_minute(100), Global, MemoryStore::new());
}
