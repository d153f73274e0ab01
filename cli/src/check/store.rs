//! Whether a Redis is fit for limits.

use tollgate::redis::{Client, RedisError, cmd};

use crate::common::{
    redis::{TIMEOUT, connect},
    store::Redis,
};

/// Policies by which Redis forgets no key before its time, or those first that would soon expire.
const SOUND_POLICIES: [&str; 2] = ["noeviction", "volatile-ttl"];

/// A Redis in which limits can be counted.
pub(super) struct Fit {
    pub(super) description: String,
    /// What will go wrong when its memory is full.
    pub(super) warning: Option<String>,
}

/// What it is, or what is wrong with it.
pub(super) async fn check(redis: &Redis) -> Result<Fit, String> {
    let store = redis.builder().build().map_err(|error| error.to_string())?;
    tracing::debug!(?store, "charging, correcting and resetting a limit of its own");
    store.check().await.map_err(|error| error.to_string())?;
    let address = store.health().servers()[0].address().to_owned();
    // A user that limits are charged by need not have the right to ask.
    let info = info(redis).await.unwrap_or_default();
    let version = version(&info);
    Ok(Fit {
        description: format!(
            "{address}: nothing is wrong: {version}, scripts run, and this user has the rights that limits need"
        ),
        warning: eviction(&info).map(|policy| {
            format!(
                "{address}: maxmemory-policy {policy} evicts limits before they expire when memory is full: a key that is evicted \
                 starts over. Set noeviction or volatile-ttl"
            )
        }),
    })
}

async fn info(redis: &Redis) -> Result<String, RedisError> {
    let mut connection = connect(&Client::open(&*redis.url)?, TIMEOUT).await?;
    cmd("INFO").query_async(&mut connection).await
}

fn field<'i>(info: &'i str, name: &str) -> Option<&'i str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

/// `Redis 7.2.4`, or `Valkey 9.1.2`, which says of itself that it is a Redis too.
fn version(info: &str) -> String {
    match (field(info, "valkey_version"), field(info, "redis_version")) {
        (Some(version), _) => format!("Valkey {version}"),
        (None, Some(version)) => format!("Redis {version}"),
        (None, None) => "a Redis that does not say its version".to_owned(),
    }
}

/// The policy by which it evicts keys of limits, if it does.
fn eviction(info: &str) -> Option<&str> {
    let is_bounded = field(info, "maxmemory").is_some_and(|bytes| bytes != "0");
    let policy = field(info, "maxmemory_policy").filter(|policy| !SOUND_POLICIES.contains(policy));
    policy.filter(|_| is_bounded)
}
