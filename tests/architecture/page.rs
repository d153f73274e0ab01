//! The floors, from the tables of docs/architecture.md.

use crate::architecture::room::Room;

const PAGE: &str = include_str!("../../docs/architecture.md");

/// The rooms of the table whose columns are floor, room, what it is for, and crates.
pub(crate) fn rooms() -> Vec<Room> {
    let rooms: Vec<Room> = PAGE.lines().filter_map(room).collect();
    assert!(!rooms.is_empty(), "docs/architecture.md has no table of rooms");
    rooms
}

/// Rooms, and what each never imports.
pub(crate) fn never() -> Vec<(String, Vec<String>)> {
    let after = PAGE.split_once("| room | never imports | why |");
    let (_, table) = after.expect("docs/architecture.md says what is never imported");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let [room, never, _] = cells(line)[..] else { return None };
        Some((code(room).pop()?, code(never)))
    };
    rows.map(|line| row(line).expect("a room, and what it never imports"))
        .collect()
}

fn room(line: &str) -> Option<Room> {
    let [floor, room, _, crates] = cells(line)[..] else {
        return None;
    };
    let (floor, mut crates) = (floor.parse().ok()?, code(crates));
    crates.sort();
    let path = code(room).pop()?;
    Some(Room { path, floor, crates })
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

/// What is written as code.
fn code(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}
