//! What one writes first: a connection from a pool and a script, for each tier, one after another.
//!
//! The pool is deadpool's, which asks a connection whether it is alive before it lends it, as it does by default.

use std::sync::Arc;

use deadpool_redis::{Config, Pool, Runtime, redis::Script};

use crate::{server::RedisServer, tier::Tier};

/// Enough that nobody queues for long. Fewer or more make it no faster here.
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
    tokens_a_second: f64,
}

impl Naive {
    /// A bucket for every tier, whatever its algorithm, that allows as much.
    pub fn new(server: &RedisServer, tiers: &[Tier]) -> Self {
        let mut config = Config::from_url(server.url());
        config.pool.get_or_insert_default().max_size = CONNECTIONS;
        let pool = config.create_pool(Some(Runtime::Tokio1)).expect("the address is ours");
        let buckets = tiers.iter().map(|tier| Bucket {
            keys: tier
                .identities()
                .map(|identity| format!("naive:{}:{identity}", tier.name))
                .collect(),
            capacity: tier.rule.capacity(),
            tokens_a_second: f64::from(tier.rule.quota().limit()) / tier.rule.quota().window().as_secs_f64(),
        });
        Self {
            pool,
            script: Arc::new(Script::new(include_str!("token_bucket.lua"))),
            buckets: buckets.collect(),
        }
    }

    /// Whether every tier lets the request pass that picked this number.
    pub async fn acquire(self, pick: usize) -> bool {
        for bucket in &*self.buckets {
            let mut connection = self.pool.get().await.expect("Redis is up");
            let mut call = self.script.key(&bucket.keys[pick % bucket.keys.len()]);
            call.arg(bucket.capacity).arg(bucket.tokens_a_second).arg(1);
            let (allowed, _remaining, _retry_after): (bool, u64, u64) =
                call.invoke_async(&mut connection).await.expect("the script runs");
            if !allowed {
                return false;
            }
        }
        true
    }
}
