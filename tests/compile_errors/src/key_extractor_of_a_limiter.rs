use tollgate::{Header, Limiter, MemoryStore, Quota, Tier};

fn main() {
    let _ = Limiter::new(
        Tier::token_bucket("messages", Quota::per_second(5), Header::new("x-user-id")),
        MemoryStore::new(),
    );
}
