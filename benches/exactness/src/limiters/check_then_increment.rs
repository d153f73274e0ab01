//! The naive limiter that is not atomic: reads the count of the current second, compares it in the client, and then increments it,
//! with three commands on a multiplexed connection, which redis-rs recommends.
//!
//! Two requests that read before either of them increments are both admitted.

use redis::{AsyncCommands, Client, RedisError, aio::MultiplexedConnection};

use super::{Limiter, unix_time};
use crate::{answer::Answer, limits::LIMIT};

pub async fn start(url: &str) -> Limiter {
    let client = Client::open(url).expect("a valid address");
    let redis = client.get_multiplexed_async_connection().await.expect("Redis is up");
    Limiter::new(move || {
        let redis = redis.clone();
        async move {
            match check(redis).await {
                Ok(true) => Answer::Admitted,
                Ok(false) => Answer::Denied,
                Err(_) => Answer::Failed,
            }
        }
    })
}

async fn check(mut redis: MultiplexedConnection) -> Result<bool, RedisError> {
    let key = format!("naive:{}", unix_time().as_secs());
    let count: Option<u32> = redis.get(&key).await?;
    if count.unwrap_or(0) >= LIMIT {
        return Ok(false);
    }
    let _: u32 = redis.incr(&key, 1).await?;
    let _: bool = redis.expire(&key, 2).await?;
    Ok(true)
}
