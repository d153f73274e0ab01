//! What the documents say, where a test holds it against what is so.

use std::fs;

use crate::project::root;

/// The rows of the table in docs/observability.md that has this head, as their cells.
pub fn observability(head: &str) -> Vec<Vec<String>> {
    let file = root().join("docs/observability.md");
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    let cells = |line: &str| {
        line.trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    let rows: Vec<_> = lines.take_while(|line| line.starts_with('|')).map(cells).collect();
    assert!(!rows.is_empty(), "there is no table {head}");
    rows
}

/// What is written as code in a cell, in the order of the alphabet.
pub fn code(cell: &str) -> Vec<String> {
    let mut words: Vec<_> = cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    words.sort();
    words
}
