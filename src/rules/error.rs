//! Errors of rules files, with a diagnostic for each fault.

use std::{
    error, fmt,
    ops::Range,
    path::{Path, PathBuf},
};

/// Bounds the displayed diagnostics: a large file that is not a rules file has one per line.
const MAX_DISPLAYED: usize = 50;

/// The diagnostics of invalid rules. It displays one per line, and at most fifty.
///
/// ```
/// use tollgate::RuleSet;
///
/// let error = RuleSet::parse("[[limit]]\nname = \"user\"\nlimit = 0\nwindow = \"soon\"").unwrap_err();
/// let lines: Vec<usize> = error.diagnostics().iter().map(|diagnostic| diagnostic.line()).collect();
/// assert_eq!(lines, [1, 1, 3, 4]); // algorithm and key are missing, and two values are invalid
/// ```
#[derive(Clone, Debug)]
pub struct RulesError {
    file: Option<PathBuf>,
    kind: ErrorKind,
}

#[derive(Clone, Debug)]
enum ErrorKind {
    /// The file cannot be read or watched, for this reason.
    Unusable(String),
    Invalid(Vec<Diagnostic>),
}

/// A fault in a rules file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    line: usize,
    column: usize,
    start: usize,
    end: usize,
    message: String,
}

impl RulesError {
    pub(super) fn unusable(reason: impl fmt::Display) -> Self {
        let (file, kind) = (None, ErrorKind::Unusable(reason.to_string()));
        Self { file, kind }
    }

    pub(super) fn invalid(diagnostics: Vec<Diagnostic>) -> Self {
        let (file, kind) = (None, ErrorKind::Invalid(diagnostics));
        Self { file, kind }
    }

    pub(super) fn in_file(self, file: &Path) -> Self {
        let file = Some(file.to_owned());
        Self { file, ..self }
    }

    /// The diagnostics in the order of the file; none if the file cannot be read.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match &self.kind {
            ErrorKind::Unusable(_) => &[],
            ErrorKind::Invalid(diagnostics) => diagnostics,
        }
    }
}

impl Diagnostic {
    pub(super) fn new((line, column): (usize, usize), span: Range<usize>, message: String) -> Self {
        Self {
            line,
            column,
            start: span.start,
            end: span.end,
            message,
        }
    }

    /// The line of the fault, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column of the fault in characters, from 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// The byte range of the fault, to underline; empty where something is missing.
    ///
    /// ```
    /// use tollgate::RuleSet;
    ///
    /// let text = "[[limit]]\nname = \"user\"\nlimit = 0\nwindow = \"soon\"\nkye = \"ip\"";
    /// let error = RuleSet::parse(text).unwrap_err();
    /// let faults: Vec<&str> = error.diagnostics().iter().map(|diagnostic| &text[diagnostic.span()]).collect();
    /// assert_eq!(faults, ["", "", "0", "\"soon\"", "kye"]); // algorithm and key are missing
    /// ```
    pub fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The fault, and how to correct it.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for RulesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.as_ref().map(|file| file.display());
        let diagnostics = match (&self.kind, &file) {
            (ErrorKind::Invalid(diagnostics), _) => diagnostics,
            (ErrorKind::Unusable(reason), Some(file)) => return write!(f, "{file}: {reason}"),
            (ErrorKind::Unusable(reason), None) => return f.write_str(reason),
        };
        for (index, diagnostic) in diagnostics.iter().take(MAX_DISPLAYED).enumerate() {
            f.write_str(if index == 0 { "" } else { "\n" })?;
            match &file {
                // The format of compilers, which editors parse.
                Some(file) => write!(
                    f,
                    "{file}:{}:{}: {}",
                    diagnostic.line, diagnostic.column, diagnostic.message
                )?,
                None => diagnostic.fmt(f)?,
            }
        }
        match diagnostics.len().saturating_sub(MAX_DISPLAYED) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line, column, message, ..
        } = self;
        write!(f, "line {line}, column {column}: {message}")
    }
}

impl error::Error for RulesError {}
