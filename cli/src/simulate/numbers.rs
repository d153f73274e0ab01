//! Numbers as people read them.

use crate::common::grouped::grouped;

/// `1 line`, `2 lines`.
pub(crate) fn lines(number: u64) -> String {
    match number {
        1 => "1 line".into(),
        _ => format!("{} lines", grouped(number)),
    }
}

/// `12.3 %`, rounded, where nothing but nothing is 0 and nothing but all is 100.
pub(crate) fn share(part: u64, whole: u64) -> String {
    if whole == 0 {
        return String::new();
    }
    let thousandths = (u128::from(part) * 1000 + u128::from(whole) / 2) / u128::from(whole);
    match thousandths {
        0 if part > 0 => "< 0.1 %".into(),
        1000 if part < whole => "> 99.9 %".into(),
        _ => format!("{}.{} %", thousandths / 10, thousandths % 10),
    }
}
