//! Numbers and dates for the report.

use tollgate::Micros;

use super::calendar::date_of_day;
use crate::common::grouped::grouped;

/// `1 line`, `2 lines`.
pub(super) fn lines(count: u64) -> String {
    match count {
        1 => "1 line".into(),
        _ => format!("{} lines", grouped(count)),
    }
}

/// A rounded percentage: `12.3 %`. Only 0 is `0.0 %`, and only the whole is `100.0 %`.
pub(super) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return String::new();
    }
    let per_mille = (u128::from(part) * 1000 + u128::from(whole) / 2) / u128::from(whole);
    match per_mille {
        0 if part > 0 => "< 0.1 %".into(),
        1000 if part < whole => "> 99.9 %".into(),
        _ => format!("{}.{} %", per_mille / 10, per_mille % 10),
    }
}

/// `2000-10-10 20:55:36`, in UTC.
pub(super) fn second(at: Micros) -> String {
    format!("{}:{:02}", minute(at), at / 1_000_000 % 60)
}

/// `2000-10-10 20:55`, in UTC.
pub(super) fn minute(at: Micros) -> String {
    let minutes = at / 60_000_000;
    let (year, month, day) = date_of_day((minutes / 1440) as i64);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}",
        minutes / 60 % 24,
        minutes % 60
    )
}
