//! A concurrency limit as it is often written: a counter, a script to acquire and another to release.

use std::sync::Arc;

use deadpool_redis::{Config, Pool, Runtime, redis::Script};

use super::CONNECTIONS;

#[derive(Clone)]
pub struct NaiveConcurrency {
    pool: Pool,
    acquire: Arc<Script>,
    release: Arc<Script>,
    keys: Arc<[String]>,
    limit: u32,
}

impl NaiveConcurrency {
    pub fn new(url: &str, identities: impl Iterator<Item = String>, limit: u32) -> Self {
        let mut config = Config::from_url(url);
        config.pool.get_or_insert_default().max_size = CONNECTIONS;
        Self {
            pool: config.create_pool(Some(Runtime::Tokio1)).expect("a valid address"),
            acquire: Arc::new(Script::new(include_str!("acquire_slot.lua"))),
            release: Arc::new(Script::new(include_str!("release_slot.lua"))),
            keys: identities
                .map(|identity| format!("naive:concurrency:{identity}"))
                .collect(),
            limit,
        }
    }

    /// Acquires a slot, and releases it. `number` selects the key.
    pub async fn serve(self, number: usize) {
        let key = &self.keys[number % self.keys.len()];
        let admitted: bool = self.call(self.acquire.key(key).arg(self.limit).arg(30_000)).await;
        assert!(admitted);
        let _held: i64 = self.call(self.release.key(key).arg(30_000)).await;
    }

    async fn call<T: deadpool_redis::redis::FromRedisValue>(
        &self,
        call: &deadpool_redis::redis::ScriptInvocation<'_>,
    ) -> T {
        let mut connection = self.pool.get().await.expect("Redis is up");
        call.invoke_async(&mut connection).await.expect("the script runs")
    }
}
