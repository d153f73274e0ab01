//! What the value of an option says, or what is wrong with it: that follows the option's name.

use std::{str::FromStr, time::Duration};

use http::{Uri, uri::Authority};
use tollgate::{RedisStore, RedisStoreBuilder};
use tracing::level_filters::LevelFilter;

use super::options::{OnStoreFailure, Place};

pub(super) fn on_store_failure(given: &str) -> Result<OnStoreFailure, String> {
    match given {
        "open" => Ok(OnStoreFailure::Open),
        "closed" => Ok(OnStoreFailure::Closed),
        "local" => Ok(OnStoreFailure::Local),
        other => Err(format!("needs open, closed or local, and {other:?} is none of them")),
    }
}

pub(super) fn place(given: &str, timeout: Option<Duration>) -> Result<Place, String> {
    match given {
        "memory" => Ok(Place::Memory),
        url if url.contains("://") => {
            let store = RedisStore::builder().url(url);
            let store = timeout.into_iter().fold(store, RedisStoreBuilder::deadline);
            match store.build() {
                Ok(store) => Ok(Place::Redis(Box::new(store))),
                // What is wrong with an address, the store says in words that hold no password.
                Err(error) => Err(format!("cannot be used: {error}")),
            }
        }
        other => Err(format!("needs memory or redis://HOST:PORT, and {other:?} is neither")),
    }
}

pub(super) fn upstream(given: &str) -> Result<Authority, String> {
    let needs = |what: &str| format!("needs a service, like http://127.0.0.1:3000, and {given:?} {what}");
    let uri = Uri::from_str(given).map_err(|error| needs(&format!("is none: {error}")))?;
    match (uri.scheme_str(), uri.path_and_query().map(|path| path.as_str())) {
        (Some("http"), None | Some("/")) => {}
        (Some("http"), Some(_)) => return Err(needs("has a path: requests bring their own")),
        (Some("https"), _) => return Err(needs("is behind TLS, which the gateway does not speak")),
        _ => return Err(needs("does not begin with http://")),
    }
    match uri.into_parts().authority {
        Some(authority) if authority.as_str().contains('@') => Err(needs("has a user in it")),
        Some(authority) => Ok(authority),
        None => Err(needs("names no host")),
    }
}

pub(super) fn time(given: &str) -> Result<Duration, String> {
    let digits = given.len() - given.trim_start_matches(|char: char| char.is_ascii_digit()).len();
    let (number, unit) = given.split_at(digits);
    let time = match (number.parse::<u32>(), unit) {
        (Ok(number), "ms") => Duration::from_millis(number.into()),
        (Ok(number), "s") => Duration::from_secs(number.into()),
        (Ok(number), "m") => Duration::from_secs(u64::from(number) * 60),
        _ => return Err(format!("needs a time, like 30s, 500ms or 5m, and {given:?} is none")),
    };
    match time.is_zero() {
        true => Err("needs a time, and nobody can be that fast".into()),
        false => Ok(time),
    }
}

pub(super) fn level(given: &str) -> Result<LevelFilter, String> {
    match given {
        "error" => Ok(LevelFilter::ERROR),
        "warn" => Ok(LevelFilter::WARN),
        "info" => Ok(LevelFilter::INFO),
        "debug" => Ok(LevelFilter::DEBUG),
        other => Err(format!(
            "needs error, warn, info or debug, and {other:?} is none of them"
        )),
    }
}
