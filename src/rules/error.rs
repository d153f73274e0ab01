//! What is wrong with a rules file, all of it at once.

use std::{
    error, fmt, io,
    path::{Path, PathBuf},
};

/// Why rules are not taken: each thing that is wrong with them, and where. It displays one to a line.
///
/// ```
/// use tollgate::RuleSet;
///
/// let error = RuleSet::parse("[[limit]]\nname = \"user\"\nlimit = 0\nwindow = \"soon\"").unwrap_err();
/// let lines: Vec<usize> = error.problems().iter().map(|problem| problem.line()).collect();
/// assert_eq!(lines, [1, 1, 3, 4]); // neither an algorithm nor a key, and two values that cannot be
/// ```
#[derive(Debug)]
pub struct RulesError {
    file: Option<PathBuf>,
    why: Why,
}

#[derive(Debug)]
enum Why {
    Unreadable(io::Error),
    Wrong(Vec<Problem>),
}

/// One thing that is wrong with a rules file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    line: usize,
    column: usize,
    message: String,
}

impl RulesError {
    pub(super) fn unreadable(error: io::Error) -> Self {
        let (file, why) = (None, Why::Unreadable(error));
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
            Why::Unreadable(_) => &[],
            Why::Wrong(problems) => problems,
        }
    }
}

impl Problem {
    pub(super) fn new(line: usize, column: usize, message: String) -> Self {
        Self { line, column, message }
    }

    /// The line it is in, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The character of the line where it begins, from 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// What is wrong, and what would do.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.as_ref().map(|file| file.display());
        let problems = match &self.why {
            Why::Unreadable(error) => {
                return match file {
                    Some(file) => write!(f, "{file}: it cannot be read: {error}"),
                    None => write!(f, "the rules cannot be read: {error}"),
                };
            }
            Why::Wrong(problems) => problems,
        };
        for (index, problem) in problems.iter().enumerate() {
            let line = if index == 0 { "" } else { "\n" };
            match &file {
                // As compilers write it, so that editors find the place.
                Some(file) => write!(
                    f,
                    "{line}{file}:{}:{}: {}",
                    problem.line, problem.column, problem.message
                )?,
                None => write!(f, "{line}{problem}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, message } = self;
        write!(f, "line {line}, column {column}: {message}")
    }
}

impl error::Error for RulesError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.why {
            Why::Unreadable(error) => Some(error),
            Why::Wrong(_) => None,
        }
    }
}
