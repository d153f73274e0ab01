//! A row of the page's table.

pub(crate) struct Room {
    /// A folder of `src/`, or a file without its `.rs`.
    pub(crate) path: String,
    pub(crate) floor: u32,
    /// The crates that its files name, in order.
    pub(crate) crates: Vec<String>,
}

/// Whether a file of `src/` is a room, or in its folder.
pub(crate) fn holds(room: &str, file: &str) -> bool {
    let rest = file.strip_prefix(room);
    rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}
