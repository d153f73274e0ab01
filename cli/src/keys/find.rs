//! Resolves `--key`: values of the request, a digest from a log, or a stored key.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressDrawTarget};
use tollgate::{
    ConfigError, Key, Limit, RedisStore, RuleSet,
    redis::{Client, RedisError},
};

use crate::common::{
    grouped::grouped,
    output::Failure,
    redis::{OPERATOR_TIMEOUT, Scan, connect},
    store::RedisConfig,
};

/// The hexadecimal digits of a digest in logs.
const DIGEST_LEN: usize = 16;

pub(super) async fn find_key(
    values: &[String],
    limit: &Limit,
    rules: &RuleSet,
    redis: &RedisConfig,
    store: &RedisStore,
    quiet: bool,
) -> Result<Key, Failure> {
    // The prefix of all keys of the limit in Redis.
    let prefix = store.redis_key(limit, &Key::verbatim(""));
    let limit_name = limit.name();
    let invalid = |error: ConfigError| Failure::Message(format!("--{error}"));
    if let [key] = values {
        if let Some(stored) = key.strip_prefix(&prefix) {
            return rules.stored_key(limit_name, stored).map_err(invalid);
        }
        let holds = |other: &&Limit| key.starts_with(&store.redis_key(other, &Key::verbatim("")));
        if let Some(other) = rules.limits().iter().find(holds) {
            let name = other.name();
            return Err(Failure::Message(format!("--key: this key belongs to the limit {name}")));
        }
        if is_digest(key) {
            return find_by_digest(key, limit, &prefix, redis, store, quiet).await;
        }
    }
    let pairs: Vec<_> = values
        .iter()
        .map(|key| key.split_once('=').unwrap_or((key, "")))
        .collect();
    let unnamed = values.iter().find(|value| !value.contains('='));
    match (rules.key(limit_name, &pairs), values) {
        (Ok(key), _) => match unnamed {
            Some(value) => Err(Failure::Message(format!("--key = {value}: it must be {value}=VALUE"))),
            None => Ok(key),
        },
        // A stored key may contain an equals sign too.
        (Err(error), [key]) => match rules.stored_key(limit_name, key) {
            Ok(key) => Ok(key),
            Err(stored) if key.contains(':') && !key.contains('=') => Err(invalid(stored)),
            Err(_) => Err(invalid(error)),
        },
        (Err(error), _) => Err(invalid(error)),
    }
}

fn is_digest(key: &str) -> bool {
    key.len() == DIGEST_LEN && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

async fn find_by_digest(
    digest: &str,
    limit: &Limit,
    prefix: &str,
    redis: &RedisConfig,
    store: &RedisStore,
    quiet: bool,
) -> Result<Key, Failure> {
    match search(digest, prefix, redis, quiet).await {
        Ok(Some(key)) => Ok(key),
        Ok(None) => Err(Failure::Message(format!(
            "no key of the limit {:?} has the digest {digest}: the key has expired, or it belongs to another limit",
            limit.name()
        ))),
        Err(error) => {
            let address = store.health().nodes()[0].address().to_owned();
            let advice = match error.code() {
                Some("NOPERM") => {
                    "; a digest is searched by SCAN, which this user is not permitted to call: give the key itself"
                }
                _ => "; is it running at this address?",
            };
            Err(Failure::Message(format!(
                "no response from Redis at {address}: {error}{advice}"
            )))
        }
    }
}

/// Compares the digest of every key of the limit, since a digest cannot be inverted.
async fn search(digest: &str, prefix: &str, redis: &RedisConfig, quiet: bool) -> Result<Option<Key>, RedisError> {
    let mut connection = connect(&Client::open(&*redis.url)?, OPERATOR_TIMEOUT).await?;
    let progress = progress(quiet);
    let mut scan = Scan::with_prefix(prefix);
    let mut scanned = 0;
    while let Some(keys) = scan.next(&mut connection).await? {
        scanned += keys.len() as u64;
        progress.set_message(format!("{} keys of the limit scanned", grouped(scanned)));
        progress.tick();
        for key in keys {
            let Ok(key) = String::from_utf8(key) else { continue };
            let Some(identity) = key.strip_prefix(prefix) else {
                continue;
            };
            let key = Key::verbatim(identity.to_owned());
            if key.digest() == digest {
                progress.finish_and_clear();
                return Ok(Some(key));
            }
        }
    }
    progress.finish_and_clear();
    Ok(None)
}

fn progress(quiet: bool) -> ProgressBar {
    let target = match !quiet && stderr().is_terminal() {
        true => ProgressDrawTarget::stderr(),
        false => ProgressDrawTarget::hidden(),
    };
    ProgressBar::with_draw_target(None, target)
}
