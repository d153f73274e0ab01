//! What is wrong with a rules file, all of it at once.

use std::{
    error, fmt,
    ops::Range,
    path::{Path, PathBuf},
};

/// The most problems that are displayed. A log that was taken for a rules file has a million.
const SHOWN: usize = 50;

/// Why rules are not taken: each thing that is wrong with them, and where. It displays one to a line, and fifty at most.
///
/// ```
/// use tollgate::RuleSet;
///
/// let error = RuleSet::parse("[[limit]]\nname = \"user\"\nlimit = 0\nwindow = \"soon\"").unwrap_err();
/// let lines: Vec<usize> = error.problems().iter().map(|problem| problem.line()).collect();
/// assert_eq!(lines, [1, 1, 3, 4]); // neither an algorithm nor a key, and two values that cannot be
/// ```
#[derive(Clone, Debug)]
pub struct RulesError {
    file: Option<PathBuf>,
    why: Why,
}

#[derive(Clone, Debug)]
enum Why {
    /// In words that say what cannot be done with the file.
    Unusable(String),
    Wrong(Vec<Problem>),
}

/// One thing that is wrong with a rules file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    line: usize,
    column: usize,
    start: usize,
    end: usize,
    message: String,
}

impl RulesError {
    pub(super) fn unusable(why: impl fmt::Display) -> Self {
        let (file, why) = (None, Why::Unusable(why.to_string()));
        Self { file, why }
    }

    pub(super) fn wrong(problems: Vec<Problem>) -> Self {
        let (file, why) = (None, Why::Wrong(problems));
        Self { file, why }
    }

    pub(super) fn in_file(self, file: &Path) -> Self {
        let file = Some(file.to_owned());
        Self { file, ..self }
    }

    /// What is wrong, from the top of the file to its end; nothing, if it cannot be read at all.
    pub fn problems(&self) -> &[Problem] {
        match &self.why {
            Why::Unusable(_) => &[],
            Why::Wrong(problems) => problems,
        }
    }
}

impl Problem {
    pub(super) fn new((line, column): (usize, usize), span: Range<usize>, message: String) -> Self {
        Self {
            line,
            column,
            start: span.start,
            end: span.end,
            message,
        }
    }

    /// The line it is in, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The character of the line where it begins, from 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// The bytes of the text that are wrong, to be underlined; none, where something is missing.
    ///
    /// ```
    /// use tollgate::RuleSet;
    ///
    /// let text = "[[limit]]\nname = \"user\"\nlimit = 0\nwindow = \"soon\"\nkye = \"ip\"";
    /// let error = RuleSet::parse(text).unwrap_err();
    /// let wrong: Vec<&str> = error.problems().iter().map(|problem| &text[problem.span()]).collect();
    /// assert_eq!(wrong, ["", "", "0", "\"soon\"", "kye"]); // neither an algorithm nor a key
    /// ```
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// What is wrong, and what would do.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.as_ref().map(|file| file.display());
        let problems = match (&self.why, &file) {
            (Why::Wrong(problems), _) => problems,
            (Why::Unusable(why), Some(file)) => return write!(f, "{file}: {why}"),
            (Why::Unusable(why), None) => return f.write_str(why),
        };
        for (index, problem) in problems.iter().take(SHOWN).enumerate() {
            f.write_str(if index == 0 { "" } else { "\n" })?;
            match &file {
                // As compilers write it, so that editors find the place.
                Some(file) => write!(f, "{file}:{}:{}: {}", problem.line, problem.column, problem.message)?,
                None => problem.fmt(f)?,
            }
        }
        match problems.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line, column, message, ..
        } = self;
        write!(f, "line {line}, column {column}: {message}")
    }
}

impl error::Error for RulesError {}
