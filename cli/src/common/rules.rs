//! Rules files, whose diagnostics are printed like a compiler's, with the source line.

use std::{
    fs,
    io::{Read, stdin},
    path::Path,
};

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use tollgate::{Diagnostic, RuleSet, RulesError};

use super::output::{self, Failure};

/// An access log that is passed as a rules file by mistake may have a million errors.
const MAX_PRINTED_DIAGNOSTICS: usize = 50;

/// The file name for messages. `-` is standard input.
pub(crate) fn name(file: &Path) -> String {
    match file == Path::new("-") {
        true => "standard input".to_owned(),
        false => file.display().to_string(),
    }
}

/// Reads a rules file, or standard input if the file is `-`.
pub(crate) fn read(file: &Path) -> Result<RuleSet, Failure> {
    if file == Path::new("-") {
        let mut text = String::new();
        let read = stdin().read_to_string(&mut text);
        read.map_err(|error| format!("standard input: {error}"))?;
        return parse("standard input", &text);
    }
    RuleSet::read(file).map_err(|error| report(file, error))
}

/// Reads a rules file and reloads it whenever it changes.
pub(crate) fn watch(file: &Path) -> Result<RuleSet, Failure> {
    RuleSet::watch(file).map_err(|error| report(file, error))
}

fn parse(name: &str, text: &str) -> Result<RuleSet, Failure> {
    RuleSet::parse(text).map_err(|error| match error.diagnostics() {
        [] => Failure::Message(format!("{name}: {error}")),
        diagnostics => {
            print(name, text, diagnostics);
            Failure::Reported
        }
    })
}

fn report(file: &Path, error: RulesError) -> Failure {
    if error.diagnostics().is_empty() {
        return error.into();
    }
    // The file may have changed since: parse the text again whose lines are printed.
    match fs::read_to_string(file).map(|text| parse(&file.display().to_string(), &text)) {
        Ok(Err(failure)) => failure,
        // It is not UTF-8, so there are no lines to print; or it has been corrected meanwhile.
        Err(_) | Ok(Ok(_)) => error.into(),
    }
}

fn print(name: &str, text: &str, diagnostics: &[Diagnostic]) {
    // anstream strips the colors if standard error is not a terminal.
    let renderer = Renderer::styled();
    for diagnostic in diagnostics.iter().take(MAX_PRINTED_DIAGNOSTICS) {
        let annotation = AnnotationKind::Primary.span(diagnostic.span());
        let snippet = Snippet::source(text).path(name).annotation(annotation);
        let report = [Level::ERROR.primary_title(diagnostic.message()).element(snippet)];
        anstream::eprintln!("{}\n", renderer.render(&report));
    }
    let plural = if diagnostics.len() == 1 { "" } else { "s" };
    let not_shown = match diagnostics.len().saturating_sub(MAX_PRINTED_DIAGNOSTICS) {
        0 => String::new(),
        count => format!(", {count} of them not shown"),
    };
    output::error(&format!("{name}: {} error{plural}{not_shown}", diagnostics.len()));
}
