//! What the value of an option says, or what is wrong with it: that follows the option's name and the value.

use std::{str::FromStr, time::Duration};

use http::{Uri, uri::Authority};

pub(super) fn upstream(given: &str) -> Result<Authority, String> {
    let needs = |what: &str| format!("it {what}: give a service, like http://127.0.0.1:3000");
    let uri = Uri::from_str(given).map_err(|error| needs(&format!("is none ({error})")))?;
    match (uri.scheme_str(), uri.path_and_query().map(|path| path.as_str())) {
        (Some("http"), None | Some("/")) => {}
        (Some("http"), Some(_)) => return Err(needs("has a path, and requests bring their own")),
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
        _ => return Err("give a time, like 30s, 500ms or 5m".into()),
    };
    match time.is_zero() {
        true => Err("it must be more than nothing".into()),
        false => Ok(time),
    }
}
