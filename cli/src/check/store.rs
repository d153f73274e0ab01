//! Whether a Redis is fit for limits.

use std::time::Duration;

use tollgate::{
    RedisStore,
    redis::{Client, RedisError, cmd},
};

use crate::common::{redis, store::Redis};

/// Nobody's request waits for an answer, so Redis may be slow.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What it is, or what is wrong with it.
pub(super) async fn check(redis: &Redis) -> Result<String, String> {
    let store = redis.builder().build().map_err(|error| error.to_string())?;
    tracing::debug!(?store, "charging, correcting and resetting a limit of its own");
    store.check().await.map_err(|error| error.to_string())?;
    let address = address(&store);
    let version = match version(redis).await {
        Ok(version) => version,
        // A user that limits are charged by need not have the right to ask.
        Err(_) => "a Redis that does not say its version".to_owned(),
    };
    Ok(format!(
        "{address}: nothing is wrong: {version}, scripts run, and this user has the rights that limits need"
    ))
}

fn address(store: &RedisStore) -> String {
    store.health().servers()[0].address().to_owned()
}

/// `Redis 7.2.4`, or `Valkey 9.1.2`, which says of itself that it is a Redis too.
async fn version(redis: &Redis) -> Result<String, RedisError> {
    let mut connection = redis::connect(&Client::open(&*redis.url)?, TIMEOUT).await?;
    let info: String = cmd("INFO").arg("server").query_async(&mut connection).await?;
    let field = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    Ok(match (field("valkey_version"), field("redis_version")) {
        (Some(version), _) => format!("Valkey {version}"),
        (None, Some(version)) => format!("Redis {version}"),
        (None, None) => "a Redis that does not say its version".to_owned(),
    })
}
