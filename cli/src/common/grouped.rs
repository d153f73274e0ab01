//! Counts with digit separators.

/// Formats a count with a comma after every three digits: `1,234,567`.
pub(crate) fn grouped(count: u64) -> String {
    match count {
        0..1000 => count.to_string(),
        _ => format!("{},{:03}", grouped(count / 1000), count % 1000),
    }
}
