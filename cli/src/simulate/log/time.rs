//! Timestamps of access logs.

use tollgate::{MAX_TIMESTAMP, Micros};

use crate::simulate::calendar::day_number;

const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// The position of each separator.
const SEPARATORS: [(usize, u8); 6] = [(2, b'/'), (6, b'/'), (11, b':'), (14, b':'), (17, b':'), (20, b' ')];

/// Parses `10/Oct/2000:13:55:36 -0700` to microseconds since 1970.
pub(super) fn micros(text: &[u8]) -> Option<Micros> {
    let matches = |(at, byte): (usize, u8)| text[at] == byte;
    if text.len() != 26 || !SEPARATORS.into_iter().all(matches) {
        return None;
    }
    let number = |from: usize, to: usize| digits(&text[from..to]);
    let month = 1 + MONTHS.iter().position(|name| *name == &text[3..6])? as i64;
    let (day, year) = (number(0, 2)?, number(7, 11)?);
    let (hour, minute, second) = (number(12, 14)?, number(15, 17)?, number(18, 20)?);
    // Second 60 is a leap second.
    if !(1..=days_in(year, month)).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let offset = 60 * (60 * number(22, 24)? + number(24, 26)?);
    let offset = match text[21] {
        b'+' => offset,
        b'-' => -offset,
        _ => return None,
    };
    let local = 86_400 * day_number(year, month, day) + 3600 * hour + 60 * minute + second;
    let at = Micros::try_from(local - offset).ok()?.checked_mul(1_000_000)?;
    (at <= MAX_TIMESTAMP).then_some(at)
}

fn digits(text: &[u8]) -> Option<i64> {
    let append = |number: i64, digit: &u8| digit.is_ascii_digit().then(|| 10 * number + i64::from(digit - b'0'));
    text.iter().try_fold(0, append)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        12 => 31,
        _ => day_number(year, month + 1, 1) - day_number(year, month, 1),
    }
}
