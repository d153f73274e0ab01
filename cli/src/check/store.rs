//! Checks that a Redis can be used as a store.

use tollgate::redis::{Client, RedisError, cmd};

use crate::common::{
    redis::{OPERATOR_TIMEOUT, connect},
    store::RedisConfig,
};

/// Eviction policies that evict no keys, or those first that expire soonest.
const SAFE_POLICIES: [&str; 2] = ["noeviction", "volatile-ttl"];

const UNKNOWN_VERSION: &str = "Redis of unknown version";

/// The result of a successful check.
pub(super) struct CheckReport {
    pub(super) description: String,
    /// An eviction policy that would evict counters, or that it is unknown.
    pub(super) warning: Option<String>,
}

pub(super) async fn check(redis: &RedisConfig) -> Result<CheckReport, String> {
    let store = redis.builder().build().map_err(|error| error.to_string())?;
    tracing::debug!(target: "tollgate::cli", ?store, "charging, settling and resetting a test limit");
    store.check().await.map_err(|error| error.to_string())?;
    let address = store.health().nodes()[0].address().to_owned();
    let info = info(redis).await;
    let version = info.as_deref().map_or_else(|_| UNKNOWN_VERSION.to_owned(), version);
    let warning = match &info {
        Ok(info) => eviction(info).map(|policy| {
            format!(
                "{address}: maxmemory-policy {policy} evicts counters before they expire when memory is full: an evicted key \
                 regains its full quota. Set noeviction or volatile-ttl"
            )
        }),
        // Limits do not need that permission.
        Err(error) => Some(format!(
            "{address}: the version and maxmemory-policy were not checked, since INFO failed: {error}. Check that the policy is \
             noeviction or volatile-ttl"
        )),
    };
    Ok(CheckReport {
        description: format!(
            "{address}: usable, {version}; scripts run and the user has the permissions that limits need"
        ),
        warning,
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
        (None, None) => UNKNOWN_VERSION.to_owned(),
    }
}

/// The eviction policy, if it may evict counters.
fn eviction(info: &str) -> Option<&str> {
    let is_bounded = field(info, "maxmemory").is_some_and(|bytes| bytes != "0");
    let policy = field(info, "maxmemory_policy").filter(|policy| !SAFE_POLICIES.contains(policy));
    policy.filter(|_| is_bounded)
}
