//! The naive limiter that is atomic: a common Lua script for a token bucket, the one of benches/peers, one call per request on a
//! multiplexed connection.

use std::sync::Arc;

use redis::{Client, RedisError, Script, aio::MultiplexedConnection};

use super::Limiter;
use crate::{
    answer::Answer,
    limits::{LIMIT, WINDOW},
};

const SCRIPT: &str = include_str!("../../../peers/src/naive/token_bucket.lua");

pub async fn start(url: &str) -> Limiter {
    let client = Client::open(url).expect("a valid address");
    let redis = client.get_multiplexed_async_connection().await.expect("Redis is up");
    let script = Arc::new(Script::new(SCRIPT));
    Limiter::new(move || {
        let (redis, script) = (redis.clone(), Arc::clone(&script));
        async move {
            match take(redis, &script).await {
                Ok(true) => Answer::Admitted,
                Ok(false) => Answer::Denied,
                Err(_) => Answer::Failed,
            }
        }
    })
}

async fn take(mut redis: MultiplexedConnection, script: &Script) -> Result<bool, RedisError> {
    let per_second = f64::from(LIMIT) / WINDOW.as_secs_f64();
    let mut call = script.key("bucket");
    call.arg(LIMIT).arg(per_second).arg(1);
    let (allowed, _remaining, _retry_after): (bool, u64, u64) = call.invoke_async(&mut redis).await?;
    Ok(allowed)
}
