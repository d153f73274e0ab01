//! Rows of counts, each after what it is about.

use super::count::Count;
use crate::{common::grouped::grouped, simulate::numbers::share};

/// What a row is about is cut off where the numbers begin.
const WIDTH: usize = 46;

pub(super) type Column = (&'static str, fn(&Count) -> u64);

pub(super) const REQUESTS: Column = ("requests", |count| count.requests);
pub(super) const ADMITTED: Column = ("admitted", |count| count.requests - count.refused);
pub(super) const REFUSED: Column = ("refused", |count| count.refused);

/// Under a head that says what they are about.
pub(super) fn table(head: &str, columns: &[Column], rows: impl Iterator<Item = (String, Count)>) -> String {
    let names = columns.iter().map(|(name, _)| (*name).to_owned());
    let mut table = format!("\n{}", row(head, names, "share"));
    for (name, count) in rows {
        let numbers = columns.iter().map(|(_, number)| grouped(number(&count)));
        table += &row(&name, numbers, &share(count.refused, count.requests));
    }
    table
}

fn row(name: &str, cells: impl Iterator<Item = String>, share: &str) -> String {
    let name = match name.char_indices().nth(WIDTH) {
        None => name.to_owned(),
        Some(_) => name.chars().take(WIDTH - 1).chain(['…']).collect(),
    };
    let cells: String = cells.map(|cell| format!("{cell:>14}")).collect();
    let row = format!("{name:WIDTH$}{cells}{share:>10}");
    format!("{}\n", row.trim_end())
}
