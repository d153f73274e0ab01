//! The limits that a request is charged by, for both sides.

use std::time::Duration;

use tollgate::{Algorithm, AnyAlgorithm, Limit, Quota, SlidingCounter, TokenBucket};

const USERS: usize = 10_000;

/// A limit, and the number of its users.
pub struct Tier {
    pub name: String,
    pub algorithm: AnyAlgorithm,
    pub users: usize,
    pub lease: Option<Duration>,
}

impl Tier {
    pub fn new(name: &str, algorithm: impl Algorithm, users: usize) -> Self {
        Self {
            name: name.to_owned(),
            algorithm: algorithm.to_any(),
            users,
            lease: None,
        }
    }

    pub fn leased(self, time: Duration) -> Self {
        let lease = Some(time);
        Self { lease, ..self }
    }

    pub fn limit(&self) -> Limit {
        let limit = Limit::new(&self.name, self.algorithm);
        self.lease.map_or(limit.clone(), |time| limit.lease(time))
    }

    pub fn identities(&self) -> impl Iterator<Item = String> {
        (0..self.users).map(|user| format!("user:{user}"))
    }
}

/// A bucket that is never empty and never full again, so its keys do not expire between requests, like those of active users.
pub fn never_denies() -> TokenBucket {
    TokenBucket::with_capacity(Quota::per_second(1), 1_000_000_000)
}

pub fn one_tier() -> [Tier; 1] {
    [Tier::new("user", never_denies(), USERS)]
}

pub fn three_tiers() -> [Tier; 3] {
    let counter = SlidingCounter::new(Quota::per_hour(u32::MAX));
    [
        Tier::new("global", counter, 1),
        Tier::new("user", never_denies(), USERS),
        Tier::new("endpoint", counter, USERS),
    ]
}

pub fn hot_key() -> [Tier; 1] {
    [Tier::new("hot", never_denies(), 1)]
}

pub fn one_per_hour() -> [Tier; 1] {
    [Tier::new("exhausted", TokenBucket::new(Quota::per_hour(1)), 1)]
}

/// `count` tiers for each user.
pub fn tiers(count: usize) -> Vec<Tier> {
    (1..=count)
        .map(|tier| Tier::new(&format!("tier-{tier}"), never_denies(), USERS))
        .collect()
}
