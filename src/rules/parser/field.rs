//! A field of the file, and readers for its value.

use std::{fmt, time::Duration};

use toml::{Spanned, de::DeValue};

use super::diagnostics::{Diagnostics, Reported, nearest, prefixed};
use crate::config_error::ConfigError;

/// Bounds how much of a value a message quotes.
const MAX_QUOTED_CHARS: usize = 80;

pub(super) struct Field<'f> {
    /// The label of its table in messages.
    pub(super) table: String,
    pub(super) name: String,
    pub(super) value: &'f Spanned<DeValue<'f>>,
    pub(super) diagnostics: &'f Diagnostics<'f>,
}

impl<'f> Field<'f> {
    /// Reports an invalid value. `must` completes the sentence "it must ...".
    pub(super) fn must(&self, must: impl fmt::Display) -> Reported {
        let (name, source) = (&self.name, self.source());
        self.report(format_args!("{name} = {source}: it must {must}"))
    }

    /// Reports a fault of the field.
    pub(super) fn report(&self, message: impl fmt::Display) -> Reported {
        self.diagnostics
            .report(self.value.span(), prefixed(&self.table, message))
    }

    /// Reports a value that a constructor rejected.
    pub(super) fn invalid(&self, error: &ConfigError) -> Reported {
        self.must(error.must())
    }

    pub(super) fn text(&self) -> Result<&'f str, Reported> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => Err(self.must("be text in quotes")),
        }
    }

    /// A number from 1 to the maximum of limits.
    pub(super) fn count(&self) -> Result<u32, Reported> {
        self.count_up_to(u32::MAX)
    }

    /// A number from 1 to `max`.
    pub(super) fn count_up_to(&self, max: u32) -> Result<u32, Reported> {
        let number = match self.value.get_ref() {
            DeValue::Integer(number) => u32::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        number
            .filter(|number| (1..=max).contains(number))
            .ok_or_else(|| self.must(format_args!("be a whole number from 1 to {max}")))
    }

    pub(super) fn flag(&self) -> Result<bool, Reported> {
        match self.value.get_ref() {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => Err(self.must("be true or false")),
        }
    }

    /// A duration like `10s`.
    pub(super) fn duration(&self) -> Result<Duration, Reported> {
        let duration = match self.value.get_ref() {
            DeValue::String(text) => parse_duration(text),
            _ => None,
        };
        duration.ok_or_else(|| {
            self.must("be a whole number and its unit in quotes, like \"10s\": the units are us, ms, s, m, h and d")
        })
    }

    /// One of these strings.
    pub(super) fn one_of<'o>(&self, options: &[&'o str]) -> Result<&'o str, Reported> {
        let text = match self.value.get_ref() {
            DeValue::String(text) => &**text,
            _ => "",
        };
        let option = options.iter().find(|option| **option == text).copied();
        option.ok_or_else(|| {
            let all = options.join(", ");
            match nearest(text, options) {
                Some(meant) => self.must(format_args!("be one of {all}: did you mean {meant}?")),
                None => self.must(format_args!("be one of {all}")),
            }
        })
    }

    /// A list, with each element read by `read`.
    pub(super) fn list<T>(&self, read: impl Fn(&Self) -> Result<T, Reported>) -> Result<Vec<T>, Reported> {
        let DeValue::Array(values) = self.value.get_ref() else {
            return Err(match self.value.get_ref() {
                DeValue::String(_) => self.must(format_args!("be a list in brackets, like [{}]", self.source())),
                _ => self.must("be a list in brackets, of texts in quotes"),
            });
        };
        // Reads all elements before failing, to report each invalid one.
        let all: Vec<_> = values.iter().map(|value| read(&self.element(value))).collect();
        all.into_iter().collect()
    }

    /// A list with at least one element.
    pub(super) fn non_empty_list<T>(&self, read: impl Fn(&Self) -> Result<T, Reported>) -> Result<Vec<T>, Reported> {
        match self.list(read)? {
            list if list.is_empty() => Err(self.must("have at least one value")),
            list => Ok(list),
        }
    }

    /// A single value, or a list with at least one.
    pub(super) fn one_or_list<T>(&self, read: impl Fn(&Self) -> Result<T, Reported>) -> Result<Vec<T>, Reported> {
        match self.value.get_ref() {
            DeValue::Array(_) => self.non_empty_list(read),
            _ => read(self).map(|one| vec![one]),
        }
    }

    /// The byte offset of the value.
    pub(super) fn offset(&self) -> usize {
        self.value.span().start
    }

    /// The line of a byte offset.
    pub(super) fn line_of(&self, offset: usize) -> usize {
        self.diagnostics.line(offset)
    }

    fn element(&self, value: &'f Spanned<DeValue<'f>>) -> Self {
        Self {
            table: self.table.clone(),
            name: self.name.clone(),
            value,
            diagnostics: self.diagnostics,
        }
    }

    /// The start of the value's first line in the file.
    fn source(&self) -> &'f str {
        let source = self.diagnostics.text().get(self.value.span()).unwrap_or_default();
        let line = source.lines().next().unwrap_or_default();
        let end = line
            .char_indices()
            .nth(MAX_QUOTED_CHARS)
            .map_or(line.len(), |(end, _)| end);
        &line[..end]
    }
}

fn parse_duration(text: &str) -> Option<Duration> {
    let unit = text.find(|char: char| !char.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit);
    let micros = match unit {
        "us" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        "m" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return None,
    };
    if number.is_empty() {
        return None;
    }
    // Saturates, so that the caller reports its own maximum.
    let number: u64 = number.parse().unwrap_or(u64::MAX);
    Some(Duration::from_micros(number.saturating_mul(micros)))
}
