//! The diagnostics of a rules file, with their positions.

use std::{cell::RefCell, fmt, ops::Range};

use super::super::error::Diagnostic;

/// Collects diagnostics, each with its byte range.
pub(super) struct Diagnostics<'t> {
    text: &'t str,
    reported: RefCell<Vec<(Range<usize>, String)>>,
}

/// An error whose diagnostic has been reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported;

impl<'t> Diagnostics<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let reported = RefCell::default();
        Self { text, reported }
    }

    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    pub(super) fn report(&self, span: Range<usize>, message: impl fmt::Display) -> Reported {
        self.reported.borrow_mut().push((span, message.to_string()));
        Reported
    }

    /// The line of a byte offset, from 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        Position::default().advance_to(offset, self.text).line
    }

    /// All diagnostics, in the order of the file.
    pub(super) fn all(&self) -> Vec<Diagnostic> {
        let mut reported = self.reported.take();
        reported.sort_by_key(|(span, _)| span.start);
        let mut position = Position::default();
        let located = reported.into_iter().map(|(span, message)| {
            position = position.advance_to(span.start, self.text);
            Diagnostic::new((position.line, position.column), span, message)
        });
        located.collect()
    }
}

/// A byte offset with its line and column, as editors count them.
#[derive(Clone, Copy)]
struct Position {
    offset: usize,
    line: usize,
    column: usize,
}

impl Default for Position {
    fn default() -> Self {
        let (offset, line, column) = (0, 1, 1);
        Self { offset, line, column }
    }
}

impl Position {
    /// The position of a later offset.
    fn advance_to(self, offset: usize, text: &str) -> Self {
        let passed = text.get(self.offset..offset).unwrap_or_default();
        let lines = passed.matches('\n').count();
        let last_line = passed.rfind('\n').map_or(passed, |newline| &passed[newline + 1..]);
        // Editors do not count a byte order mark.
        let columns = last_line.chars().filter(|char| *char != '\u{feff}').count();
        let column = if lines == 0 { self.column } else { 1 };
        Self {
            offset: self.offset + passed.len(),
            line: self.line + lines,
            column: column + columns,
        }
    }
}

/// A message, prefixed with the label of the table that it is about.
pub(super) fn prefixed(table: &str, message: impl fmt::Display) -> String {
    match table {
        "" => message.to_string(),
        table => format!("{table}: {message}"),
    }
}

/// The known name for "did you mean ..?": the nearest one with an edit distance of at most 2, ignoring case.
pub(super) fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let name = name.to_ascii_lowercase();
    let distances = known.iter().map(|known| (edit_distance(&name, known), *known));
    let (distance, nearest) = distances.min()?;
    (distance <= 2 && distance < nearest.len()).then_some(nearest)
}

/// The Levenshtein distance.
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, char) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], index + 1);
        for (column, wanted) in to.iter().enumerate() {
            let substituted = diagonal + usize::from(char != *wanted);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}
