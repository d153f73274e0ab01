//! Finds the key that an operator means, in each of the ways that keys are written.

use std::io::{IsTerminal, stderr};

use indicatif::{ProgressBar, ProgressDrawTarget};
use tollgate::{Key, Limit, RedisStore, RuleSet, redis::Client};

use super::TIMEOUT;
use crate::common::{
    failure::Failure,
    grouped::grouped,
    redis::{self, Scan},
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
    if let [key] = given {
        if let Some(identity) = key.strip_prefix(&prefix) {
            return Ok(Key::verbatim(identity.to_owned()));
        }
        if is_digest(key) {
            let address = store.health().servers()[0].address().to_owned();
            let found = by_digest(key, &prefix, redis, quiet).await;
            let found = found.map_err(|error| format!("no answer from Redis at {address}: {error}"))?;
            return found.ok_or_else(|| {
                Failure::Because(format!(
                    "no key of the limit {:?} has the digest {key}: nothing is used by it any more, or it is a key of another limit",
                    limit.name()
                ))
            });
        }
    }
    let values: Option<Vec<_>> = given.iter().map(|key| key.split_once('=')).collect();
    match (rules.key(limit.name(), values.as_deref().unwrap_or_default()), given) {
        (Ok(key), _) if values.is_some() => Ok(key),
        // A value may have an equals sign in it.
        (_, [key]) if key.contains(':') || key.starts_with(['/', '~']) || key == "global" => {
            Ok(Key::verbatim(key.clone()))
        }
        (Err(error), _) => Err(Failure::Because(format!("--{error}"))),
        (Ok(_), _) => {
            let given = given.join(" ");
            Err(Failure::Because(format!(
                "--key {given}: it must be NAME=VALUE, a digest, or a key as Redis has it, like ip:192.0.2.1"
            )))
        }
    }
}

fn is_digest(key: &str) -> bool {
    key.len() == DIGEST_LEN && key.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Digests cannot be turned back, so every key of the limit is looked at.
async fn by_digest(
    digest: &str,
    prefix: &str,
    redis: &Redis,
    quiet: bool,
) -> Result<Option<Key>, tollgate::redis::RedisError> {
    let mut connection = redis::connect(&Client::open(&*redis.url)?, TIMEOUT).await?;
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
