//! Checks that a Redis can be used as a store.

use tollgate::redis::{Client, RedisError, cmd};

use crate::common::{
    redis::{OPERATOR_TIMEOUT, connect},
    store::RedisConfig,
};

/// Eviction policies that evict no keys, or those first that expire soonest.
const SAFE_POLICIES: [&str; 2] = ["noeviction", "volatile-ttl"];

/// The result of a successful check.
pub(super) struct CheckReport {
    pub(super) description: String,
    /// An eviction policy that would evict counters.
    pub(super) warning: Option<String>,
}

pub(super) async fn check(redis: &RedisConfig) -> Result<CheckReport, String> {
    let store = redis.builder().build().map_err(|error| error.to_string())?;
    tracing::debug!(target: "tollgate::cli", ?store, "charging, settling and resetting a test limit");
    store.check().await.map_err(|error| error.to_string())?;
    let address = store.health().nodes()[0].address().to_owned();
    // INFO may be denied: limits do not need that permission.
    let info = info(redis).await.unwrap_or_default();
    let version = version(&info);
    Ok(CheckReport {
        description: format!(
            "{address}: usable, {version}; scripts run and the user has the permissions that limits need"
        ),
        warning: eviction(&info).map(|policy| {
            format!(
                "{address}: maxmemory-policy {policy} evicts counters before they expire when memory is full: an evicted key \
                 regains its full quota. Set noeviction or volatile-ttl"
            )
        }),
    })
}

async fn info(redis: &RedisConfig) -> Result<String, RedisError> {
    let mut connection = connect(&Client::open(&*redis.url)?, OPERATOR_TIMEOUT).await?;
    cmd("INFO").query_async(&mut connection).await
}

fn field<'i>(info: &'i str, name: &str) -> Option<&'i str> {
    info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
}

/// `Redis 7.2.4` or `Valkey 9.1.2`. Valkey reports a `redis_version` too.
fn version(info: &str) -> String {
    match (field(info, "valkey_version"), field(info, "redis_version")) {
        (Some(version), _) => format!("Valkey {version}"),
        (None, Some(version)) => format!("Redis {version}"),
        (None, None) => "Redis of unknown version".to_owned(),
    }
}

/// The eviction policy, if it may evict counters.
fn eviction(info: &str) -> Option<&str> {
    let is_bounded = field(info, "maxmemory").is_some_and(|bytes| bytes != "0");
    let policy = field(info, "maxmemory_policy").filter(|policy| !SAFE_POLICIES.contains(policy));
    policy.filter(|_| is_bounded)
}
