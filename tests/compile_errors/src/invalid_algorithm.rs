use tollgate::{Global, Quota, Tier};

fn main() {
    let _ = Tier::new("all", Quota::per_minute(100), Global);
}
