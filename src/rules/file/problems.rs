//! What is wrong with the file, and where.

use std::{cell::RefCell, fmt};

use super::super::error::Problem;

/// All that has been found so far, each with the byte where it begins.
pub(super) struct Problems<'t> {
    text: &'t str,
    found: RefCell<Vec<(usize, String)>>,
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

    pub(super) fn report(&self, at: usize, message: impl fmt::Display) -> Reported {
        self.found.borrow_mut().push((at, message.to_string()));
        Reported
    }

    /// The line and the column of a byte, counted from 1, as editors do.
    pub(super) fn position(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        // A mark of the byte order is no character.
        let before = before.strip_prefix('\u{feff}').unwrap_or(before);
        let line = before.matches('\n').count() + 1;
        let begins = before.rfind('\n').map_or(0, |newline| newline + 1);
        (line, before[begins..].chars().count() + 1)
    }

    /// From the top of the file to its end.
    pub(super) fn all(&self) -> Vec<Problem> {
        let mut found = self.found.take();
        found.sort_by_key(|(at, _)| *at);
        let located = found.into_iter().map(|(at, message)| {
            let (line, column) = self.position(at);
            Problem::new(line, column, message)
        });
        located.collect()
    }
}

/// A message, and which table it is about.
pub(super) fn within(table: &str, message: impl fmt::Display) -> String {
    match table {
        "" => message.to_string(),
        table => format!("{table}: {message}"),
    }
}
