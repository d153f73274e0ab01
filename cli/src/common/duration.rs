//! Durations in options.

use std::time::Duration;

/// Clap prefixes errors with the option and the value.
pub(crate) fn parse_duration(value: &str) -> Result<Duration, String> {
    let digits = value.len() - value.trim_start_matches(|char: char| char.is_ascii_digit()).len();
    let (number, unit) = value.split_at(digits);
    let duration = match (number.parse::<u32>(), unit) {
        (Ok(number), "ms") => Duration::from_millis(number.into()),
        (Ok(number), "s") => Duration::from_secs(number.into()),
        (Ok(number), "m") => Duration::from_secs(u64::from(number) * 60),
        _ => return Err("expected a duration, like 30s, 500ms or 5m".into()),
    };
    match duration.is_zero() {
        true => Err("the duration must be greater than zero".into()),
        false => Ok(duration),
    }
}
