//! Tables of docs/observability.md, for tests that compare them with the code.

use std::fs;

use crate::project::root;

/// The cells of each row of the table with this header row.
pub fn observability_table(head: &str) -> Vec<Vec<String>> {
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

/// The code spans in a cell, sorted.
pub fn code_spans(cell: &str) -> Vec<String> {
    let mut spans: Vec<_> = cell.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    spans.sort();
    spans
}
