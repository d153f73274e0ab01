//! What a request is charged, in words that both sides understand.

use tollgate::{Algorithm, Quota, Rule, SlidingCounter, TokenBucket};

const USERS: usize = 10_000;

/// A limit, and how many share it.
pub struct Tier {
    pub name: String,
    pub rule: Rule,
    pub users: usize,
}

impl Tier {
    pub fn new(name: &str, algorithm: impl Algorithm, users: usize) -> Self {
        Self {
            name: name.to_owned(),
            rule: algorithm.rule(),
            users,
        }
    }

    pub fn identities(&self) -> impl Iterator<Item = String> {
        (0..self.users).map(|user| format!("user:{user}"))
    }
}

/// A bucket that is never empty and never full again: its keys live on from request to request, as those of real users
/// do.
pub fn never_refuses() -> TokenBucket {
    TokenBucket::with_capacity(Quota::per_second(1), 1_000_000_000)
}

pub fn one_tier() -> [Tier; 1] {
    [Tier::new("user", never_refuses(), USERS)]
}

pub fn three_tiers() -> [Tier; 3] {
    let counter = SlidingCounter::new(Quota::per_hour(u32::MAX));
    [
        Tier::new("global", counter, 1),
        Tier::new("user", never_refuses(), USERS),
        Tier::new("endpoint", counter, USERS),
    ]
}

pub fn hot_key() -> [Tier; 1] {
    [Tier::new("hot", never_refuses(), 1)]
}

pub fn one_an_hour() -> [Tier; 1] {
    [Tier::new("spent", TokenBucket::new(Quota::per_hour(1)), 1)]
}

/// So many tiers for each user.
pub fn tiers(count: usize) -> Vec<Tier> {
    (1..=count)
        .map(|tier| Tier::new(&format!("tier-{tier}"), never_refuses(), USERS))
        .collect()
}
