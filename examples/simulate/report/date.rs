//! Dates as people read them.

use tollgate::Micros;

/// `2000-10-10 20:55:36`, in UTC.
pub(super) fn second(at: Micros) -> String {
    format!("{}:{:02}", minute(at), at / 1_000_000 % 60)
}

/// `2000-10-10 20:55`, in UTC.
pub(super) fn minute(at: Micros) -> String {
    let minutes = at / 60_000_000;
    let (year, month, day) = date(minutes / 1440);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}",
        minutes / 60 % 24,
        minutes % 60
    )
}

/// The date so many days after the first of January 1970. Years are taken to begin in March, so that leap days are at
/// their end.
fn date(days: u64) -> (u64, u64, u64) {
    const CENTURIES: u64 = 146_097;
    let days = days + 719_468;
    let (era, day) = (days / CENTURIES, days % CENTURIES);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, is_next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * era + year + is_next_year, month, day)
}
