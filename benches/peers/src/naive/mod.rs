//! A naive implementation: for each tier in turn, a pooled connection and an EVALSHA.
//!
//! The pool is deadpool's with its default recycling, which pings a connection at checkout.

mod concurrency;

use std::sync::Arc;

use deadpool_redis::{Config, Pool, Runtime, redis::Script};
use tollgate::AnyAlgorithm;

pub use self::concurrency::NaiveConcurrency;
use crate::tier::Tier;

/// Enough to avoid long queues. Neither fewer nor more connections are faster here.
const CONNECTIONS: usize = 16;

#[derive(Clone)]
pub struct Naive {
    pool: Pool,
    script: Arc<Script>,
    buckets: Arc<[Bucket]>,
}

struct Bucket {
    keys: Vec<String>,
    capacity: u32,
    tokens_per_second: f64,
}

impl Naive {
    /// A bucket with the limit of each tier, for every algorithm.
    pub fn new(url: &str, tiers: &[Tier]) -> Self {
        let mut config = Config::from_url(url);
        config.pool.get_or_insert_default().max_size = CONNECTIONS;
        let pool = config.create_pool(Some(Runtime::Tokio1)).expect("a valid address");
        let buckets = tiers.iter().map(|tier| Bucket {
            keys: tier
                .identities()
                .map(|identity| format!("naive:{}:{identity}", tier.name))
                .collect(),
            capacity: tier.algorithm.capacity(),
            tokens_per_second: tokens_per_second(&tier.algorithm),
        });
        Self {
            pool,
            script: Arc::new(Script::new(include_str!("token_bucket.lua"))),
            buckets: buckets.collect(),
        }
    }

    /// Whether every tier admits the request. `number` selects the keys.
    pub async fn acquire(self, number: usize) -> bool {
        for bucket in &*self.buckets {
            let mut connection = self.pool.get().await.expect("Redis is up");
            let mut call = self.script.key(&bucket.keys[number % bucket.keys.len()]);
            call.arg(bucket.capacity).arg(bucket.tokens_per_second).arg(1);
            let (allowed, _remaining, _retry_after): (bool, u64, u64) =
                call.invoke_async(&mut connection).await.expect("the script runs");
            if !allowed {
                return false;
            }
        }
        true
    }
}

fn tokens_per_second(algorithm: &AnyAlgorithm) -> f64 {
    let quota = algorithm.quota().expect("a bucket has a quota");
    f64::from(quota.limit()) / quota.window().as_secs_f64()
}
