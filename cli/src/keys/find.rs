//! Finds the key that an operator means, in each of the ways that keys are written.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressDrawTarget};
use tollgate::{
    Invalid, Key, Limit, RedisStore, RuleSet,
    redis::{Client, RedisError},
};

use crate::common::{
    failure::Failure,
    grouped::grouped,
    redis::{Scan, TIMEOUT, connect},
    store::Redis,
};

/// How many digits of a digest logs have.
const DIGEST_LEN: usize = 16;

pub(super) async fn find_key(
    given: &[String],
    limit: &Limit,
    rules: &RuleSet,
    redis: &Redis,
    store: &RedisStore,
    quiet: bool,
) -> Result<Key, Failure> {
    // What all keys of the limit begin with in Redis.
    let prefix = store.redis_key(limit, &Key::verbatim(""));
    let limit_name = limit.name();
    let wrong = |error: Invalid| Failure::Because(format!("--{error}"));
    if let [key] = given {
        if let Some(stored) = key.strip_prefix(&prefix) {
            return rules.stored_key(limit_name, stored).map_err(wrong);
        }
        if is_digest(key) {
            return by_digest(key, limit, &prefix, redis, store, quiet).await;
        }
    }
    let values: Vec<_> = given
        .iter()
        .map(|key| key.split_once('=').unwrap_or((key, "")))
        .collect();
    match (rules.key(limit_name, &values), given) {
        (Ok(key), _) => Ok(key),
        // A value in a stored key may have an equals sign in it.
        (Err(error), [key]) => match rules.stored_key(limit_name, key) {
            Ok(key) => Ok(key),
            Err(stored) if key.contains(':') && !key.contains('=') => Err(wrong(stored)),
            Err(_) => Err(wrong(error)),
        },
        (Err(error), _) => Err(wrong(error)),
    }
}

fn is_digest(key: &str) -> bool {
    key.len() == DIGEST_LEN && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

async fn by_digest(
    digest: &str,
    limit: &Limit,
    prefix: &str,
    redis: &Redis,
    store: &RedisStore,
    quiet: bool,
) -> Result<Key, Failure> {
    match search(digest, prefix, redis, quiet).await {
        Ok(Some(key)) => Ok(key),
        Ok(None) => Err(Failure::Because(format!(
            "no key of the limit {:?} has the digest {digest}: nothing is used by it any more, or it is a key of another limit",
            limit.name()
        ))),
        Err(error) => {
            let address = store.health().servers()[0].address().to_owned();
            let advice = match error.code() {
                Some("NOPERM") => {
                    "; a digest is searched for by SCAN, which this user may not use: give the key itself"
                }
                _ => "; is it running, and is this its address?",
            };
            Err(Failure::Because(format!(
                "no answer from Redis at {address}: {error}{advice}"
            )))
        }
    }
}

/// Digests cannot be turned back, so every key of the limit is looked at.
async fn search(digest: &str, prefix: &str, redis: &Redis, quiet: bool) -> Result<Option<Key>, RedisError> {
    let mut connection = connect(&Client::open(&*redis.url)?, TIMEOUT).await?;
    let progress = progress(quiet);
    let mut scan = Scan::beginning_with(prefix);
    let mut looked_at = 0;
    while let Some(keys) = scan.next(&mut connection).await? {
        looked_at += keys.len() as u64;
        progress.set_message(format!("{} keys of the limit looked at", grouped(looked_at)));
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
