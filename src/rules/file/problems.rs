//! What is wrong with the file, and where.

use std::{cell::RefCell, fmt, ops::Range};

use super::super::error::Problem;

/// All that has been found so far, each with the bytes that it is about.
pub(super) struct Problems<'t> {
    text: &'t str,
    found: RefCell<Vec<(Range<usize>, String)>>,
}

/// It was wrong, and that has been reported.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported;

impl<'t> Problems<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let found = RefCell::default();
        Self { text, found }
    }

    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    pub(super) fn report(&self, span: Range<usize>, message: impl fmt::Display) -> Reported {
        self.found.borrow_mut().push((span, message.to_string()));
        Reported
    }

    /// The line that a byte is in, counted from 1.
    pub(super) fn line(&self, at: usize) -> usize {
        Place::default().moved(self.text, at).line
    }

    /// From the top of the file to its end.
    pub(super) fn all(&self) -> Vec<Problem> {
        let mut found = self.found.take();
        found.sort_by_key(|(span, _)| span.start);
        let mut place = Place::default();
        let located = found.into_iter().map(|(span, message)| {
            place = place.moved(self.text, span.start);
            Problem::new((place.line, place.column), span, message)
        });
        located.collect()
    }
}

/// A place in a text, and its line and column, as editors count them.
#[derive(Clone, Copy)]
struct Place {
    at: usize,
    line: usize,
    column: usize,
}

impl Default for Place {
    fn default() -> Self {
        let (at, line, column) = (0, 1, 1);
        Self { at, line, column }
    }
}

impl Place {
    /// The place of a later byte.
    fn moved(self, text: &str, at: usize) -> Self {
        let passed = text.get(self.at..at).unwrap_or_default();
        let lines = passed.matches('\n').count();
        let begun = passed.rfind('\n').map_or(passed, |newline| &passed[newline + 1..]);
        // A mark of the byte order is no character.
        let columns = begun.chars().filter(|letter| *letter != '\u{feff}').count();
        let column = if lines == 0 { self.column } else { 1 };
        Self {
            at: self.at + passed.len(),
            line: self.line + lines,
            column: column + columns,
        }
    }
}

/// A message, and which table it is about.
pub(super) fn within(table: &str, message: impl fmt::Display) -> String {
    match table {
        "" => message.to_string(),
        table => format!("{table}: {message}"),
    }
}
