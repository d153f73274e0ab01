//! Rules files. What is wrong with one is shown as compilers show it: each with the line that it is in.

use std::{
    fs,
    io::{Read, stdin},
    path::Path,
};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use tollgate::{Problem, RuleSet, RulesError};

use super::{failure::Failure, output};

/// The most that are shown. A log that was taken for a rules file has a million.
const MAX_SHOWN: usize = 50;

/// What a file is called: `-` is standard input.
pub(crate) fn name(file: &Path) -> String {
    match file == Path::new("-") {
        true => "standard input".to_owned(),
        false => file.display().to_string(),
    }
}

/// The rules that a file says, or standard input if it is `-`.
pub(crate) fn read(file: &Path) -> Result<RuleSet, Failure> {
    if file == Path::new("-") {
        let mut text = String::new();
        let read = stdin().read_to_string(&mut text);
        read.map_err(|error| format!("standard input: {error}"))?;
        return parse("standard input", &text);
    }
    RuleSet::read(file).or_else(|error| show(file, error))
}

/// The same, read again whenever the file changes.
pub(crate) fn watch(file: &Path) -> Result<RuleSet, Failure> {
    RuleSet::watch(file).or_else(|error| show(file, error))
}

fn parse(name: &str, text: &str) -> Result<RuleSet, Failure> {
    RuleSet::parse(text).map_err(|error| match error.problems() {
        [] => Failure::Because(format!("{name}: {error}")),
        problems => {
            print(name, text, problems);
            Failure::Reported
        }
    })
}

fn show(file: &Path, error: RulesError) -> Result<RuleSet, Failure> {
    if error.problems().is_empty() {
        return Err(error.into());
    }
    // What is shown of the file is what was checked, though it may have changed since.
    match fs::read_to_string(file) {
        Ok(text) => parse(&file.display().to_string(), &text),
        // No text has lines to show.
        Err(_) => Err(error.into()),
    }
}

fn print(name: &str, text: &str, problems: &[Problem]) {
    // Colours that the terminal does not have are removed when it is printed.
    let renderer = Renderer::styled();
    for problem in problems.iter().take(MAX_SHOWN) {
        let annotation = AnnotationKind::Primary.span(problem.span());
        let snippet = Snippet::source(text).path(name).annotation(annotation);
        let report = [Level::ERROR.primary_title(problem.message()).element(snippet)];
        anstream::eprintln!("{}\n", renderer.render(&report));
    }
    let plural = if problems.len() == 1 { "thing is" } else { "things are" };
    let more = match problems.len().saturating_sub(MAX_SHOWN) {
        0 => String::new(),
        more => format!(", and {more} of them are not shown"),
    };
    output::error(&format!("{name}: {} {plural} wrong{more}", problems.len()));
}
