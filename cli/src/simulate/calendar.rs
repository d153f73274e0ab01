//! Days since 1970 and dates, by the Gregorian calendar. Years are taken to begin in March, so that leap days are at their end.

/// How many days a date is after the first of January 1970.
pub(crate) fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month < 3 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * month + 2) / 5 + day - 719_469
}

/// The year, month and day so many days after it.
pub(crate) fn date(days: i64) -> (i64, i64, i64) {
    const CENTURIES: i64 = 146_097;
    let days = days + 719_468;
    let (era, day) = (days / CENTURIES, days % CENTURIES);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, is_next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (400 * era + year + is_next_year, month, day)
}
