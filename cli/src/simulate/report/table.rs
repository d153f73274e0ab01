//! Tables of counts.

use super::Count;
use crate::{common::grouped::grouped, simulate::format::share};

/// The first column. Longer names are truncated.
const NAME_WIDTH: usize = 46;

pub(super) type Column = (&'static str, fn(&Count) -> u64);

pub(super) const REQUESTS: Column = ("requests", |count| count.requests);
pub(super) const ADMITTED: Column = ("admitted", |count| count.requests - count.denied);
pub(super) const DENIED: Column = ("denied", |count| count.denied);

pub(super) fn table(head: &str, columns: &[Column], rows: impl Iterator<Item = (String, Count)>) -> String {
    let names = columns.iter().map(|(name, _)| (*name).to_owned());
    let mut table = format!("\n{}", row(head, names, "share"));
    for (name, count) in rows {
        let numbers = columns.iter().map(|(_, number)| grouped(number(&count)));
        table += &row(&name, numbers, &share(count.denied, count.requests));
    }
    table
}

fn row(name: &str, cells: impl Iterator<Item = String>, share: &str) -> String {
    let name = match name.char_indices().nth(NAME_WIDTH) {
        None => name.to_owned(),
        Some(_) => name.chars().take(NAME_WIDTH - 1).chain(['…']).collect(),
    };
    let cells: String = cells.map(|cell| format!("{cell:>14}")).collect();
    let row = format!("{name:NAME_WIDTH$}{cells}{share:>10}");
    format!("{}\n", row.trim_end())
}
