//! Parsing a text into rules, with a diagnostic for each fault.

use std::{iter::Peekable, ops::Range, vec};

use toml::de::{DeTable, Error};
use toml_parser::{
    ParseError, Source,
    decoder::ScalarKind,
    parser::{Event, EventKind, RecursionGuard, ValidateWhitespace, parse_document},
};

use super::{
    super::{compiled::CompiledRules, error::RulesError},
    diagnostics::{Diagnostics, Reported},
    exempt, limit,
    table::Table,
    trust,
};

/// Bounds the nesting of arrays and inline tables, as the `toml` crate does.
const MAX_DEPTH: u32 = 80;

/// Unquoted text that is meant as a boolean.
const BOOLEAN_WORDS: [&str; 6] = ["true", "false", "yes", "no", "on", "off"];

/// The tables that are written in two brackets.
const ARRAYS_OF_TABLES: [&str; 2] = ["limit", "exempt"];

/// Parses rules. The error contains a diagnostic for each fault.
pub(in crate::rules) fn parse(text: &str) -> Result<CompiledRules, RulesError> {
    let (document, errors) = DeTable::parse_recoverable(text);
    let diagnostics = Diagnostics::new(text);
    let rules = match errors.is_empty() || report(text, &errors, &diagnostics) {
        true => read(text, Table::document(document.get_ref(), &diagnostics)),
        false => Err(Reported),
    };
    match (rules, diagnostics.all()) {
        (Ok(rules), none) if none.is_empty() => Ok(rules),
        (_, diagnostics) => Err(RulesError::invalid(diagnostics)),
    }
}

/// The error of a file that is valid UTF-8 up to the end of `text`.
pub(in crate::rules) fn invalid_utf8(text: &str) -> RulesError {
    let diagnostics = Diagnostics::new(text);
    diagnostics.report(text.len()..text.len(), "invalid UTF-8: save the file as UTF-8");
    RulesError::invalid(diagnostics.all())
}

fn read(text: &str, mut document: Table<'_>) -> Result<CompiledRules, Reported> {
    let trust = trust::read(&mut document);
    let rules = limit::read_all(&mut document, trust.as_ref().ok());
    let exemptions = exempt::read_all(&mut document, trust.as_ref().ok());
    document.finish();
    let (rules, exemptions, trust) = (rules?, exemptions?, trust?);
    Ok(CompiledRules {
        text: text.into(),
        rules,
        exemptions,
        trust,
    })
}

/// Reports the errors of the TOML parser. Returns whether the document is complete except for duplicate keys, so that its fields
/// can be read.
fn report(text: &str, errors: &[Error], diagnostics: &Diagnostics<'_>) -> bool {
    let mut tokens = Tokens::new(text);
    let mut is_readable = true;
    let mut has_repeated_table = false;
    for error in errors {
        let span = error.span().unwrap_or_default();
        let cause = tokens.cause(&span);
        is_readable &= matches!(cause, Cause::DuplicateKey(_));
        match cause {
            // The fields of a repeated table are duplicates, too.
            Cause::DuplicateKey(_) if has_repeated_table => Reported,
            Cause::DuplicateKey(key) if ARRAYS_OF_TABLES.contains(&key) && tokens.is_header(&span) => {
                has_repeated_table = true;
                for header in tokens.headers(key) {
                    diagnostics.report(
                        header,
                        format_args!("[{key}] must be written [[{key}]], in two brackets, once for each"),
                    );
                }
                Reported
            }
            Cause::DuplicateKey(key) => diagnostics.report(span, format_args!("{key} is there twice")),
            Cause::MissingValue => diagnostics.report(span, "there is no value after the ="),
            Cause::LeadingZero => diagnostics.report(span, "a number does not begin with 0"),
            Cause::Unquoted(value, span) => match BOOLEAN_WORDS.contains(&&*value.to_ascii_lowercase()) {
                true => diagnostics.report(span, format_args!("{value} is no value: write true or false")),
                false => diagnostics.report(span, format_args!("{value} is no value: text has to be in quotes")),
            },
            Cause::Other => diagnostics.report(span, error.message()),
        };
    }
    is_readable && !has_repeated_table
}

/// The cause of an error of the TOML parser.
enum Cause<'t> {
    DuplicateKey(&'t str),
    MissingValue,
    LeadingZero,
    /// A value that is neither a string in quotes nor a value of another type, and its span.
    Unquoted(&'t str, Range<usize>),
    Other,
}

/// The tokens of a text with errors. The errors of the `toml` crate have a span and an English message, so the token at the span
/// determines the cause.
struct Tokens<'t> {
    text: &'t str,
    source: Source<'t>,
    /// The keys and the scalar values, in the order of the text.
    events: Vec<Event>,
    /// The spans of the grammar's errors, which the `toml` crate reports before those of keys and values.
    grammar_errors: Peekable<vec::IntoIter<Range<usize>>>,
}

impl<'t> Tokens<'t> {
    fn new(text: &'t str) -> Self {
        let source = Source::new(text);
        let (mut events, mut errors) = (Vec::new(), Vec::<ParseError>::new());
        let mut validated = ValidateWhitespace::new(&mut events, source);
        let mut bounded = RecursionGuard::new(&mut validated, MAX_DEPTH);
        parse_document(&source.lex().into_vec(), &mut bounded, &mut errors);
        events.retain(|event: &Event| matches!(event.kind(), EventKind::SimpleKey | EventKind::Scalar));
        events.sort_by_key(|event| event.span().start());
        let spans = errors.iter().map(|error| error.unexpected().unwrap_or_default());
        let spans: Vec<_> = spans.map(|span| span.start()..span.end()).collect();
        Self {
            text,
            source,
            events,
            grammar_errors: spans.into_iter().peekable(),
        }
    }

    /// The cause of the next error, which is at this span.
    fn cause(&mut self, span: &Range<usize>) -> Cause<'t> {
        if self.grammar_errors.next_if_eq(span).is_some() {
            return Cause::Other;
        }
        let following = self.events.partition_point(|event| event.span().start() <= span.start);
        let token = following.checked_sub(1).map(|index| self.events[index]);
        match token.filter(|token| span.end <= token.span().end()) {
            Some(key) if key.kind() == EventKind::SimpleKey => self.key_cause(key, span),
            Some(value) => self.value_cause(value, span),
            None => Cause::Other,
        }
    }

    /// The keys of the headers `[key]`.
    fn headers(&self, key: &str) -> impl Iterator<Item = Range<usize>> {
        let spans = self.events.iter().map(|event| event.span().start()..event.span().end());
        spans.filter(move |span| &self.text[span.clone()] == key && self.is_header(span))
    }

    /// Whether a key is the only one of a header in single brackets.
    fn is_header(&self, key: &Range<usize>) -> bool {
        let before = self.text[..key.start].trim_end_matches([' ', '\t']);
        let after = self.text[key.end..].trim_start_matches([' ', '\t']);
        before.ends_with('[') && !before.ends_with("[[") && after.starts_with(']')
    }

    /// A valid key can only have been defined before.
    fn key_cause(&self, key: Event, span: &Range<usize>) -> Cause<'t> {
        let mut error: Option<ParseError> = None;
        match self.source.get(key) {
            Some(raw) if raw.len() == span.len() => {
                raw.decode_key(&mut (), &mut error);
                error.map_or(Cause::DuplicateKey(raw.as_str()), |_| Cause::Other)
            }
            _ => Cause::Other,
        }
    }

    fn value_cause(&self, value: Event, span: &Range<usize>) -> Cause<'t> {
        let raw = match self.source.get(value) {
            Some(raw) if value.encoding().is_none() => raw,
            _ => return Cause::Other,
        };
        let (text, start) = (raw.as_str(), value.span().start());
        let invalid = &text[span.start - start..span.end - start];
        let is_unquoted = match raw.decode_scalar(&mut (), &mut ()) {
            ScalarKind::String | ScalarKind::Boolean(_) => invalid == text,
            // The characters after those of a number, unless a digit separator is misplaced.
            ScalarKind::Float => !invalid.is_empty() && invalid != "_" && span.end == value.span().end(),
            ScalarKind::Integer(_) | ScalarKind::DateTime => false,
        };
        match invalid {
            _ if text.is_empty() => Cause::MissingValue,
            "0" => Cause::LeadingZero,
            _ if is_unquoted => Cause::Unquoted(text, start..value.span().end()),
            _ => Cause::Other,
        }
    }
}
