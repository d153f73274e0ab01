//! Dates as people read them.

use tollgate::Micros;

use crate::simulate::calendar::date;

/// `2000-10-10 20:55:36`, in UTC.
pub(super) fn second(at: Micros) -> String {
    format!("{}:{:02}", minute(at), at / 1_000_000 % 60)
}

/// `2000-10-10 20:55`, in UTC.
pub(super) fn minute(at: Micros) -> String {
    let minutes = at / 60_000_000;
    let (year, month, day) = date((minutes / 1440) as i64);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}",
        minutes / 60 % 24,
        minutes % 60
    )
}
