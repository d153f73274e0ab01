//! One value of the file, read as what it should be.

use std::{fmt, time::Duration};

use toml::{Spanned, de::DeValue};

use super::{
    nearest::nearest,
    problems::{Problems, Reported, within},
};
use crate::invalid::Invalid;

/// The most letters of a value that are repeated in a message.
const LONGEST: usize = 80;

pub(super) struct Field<'f> {
    /// What its table is called in messages.
    pub(super) table: String,
    pub(super) name: String,
    pub(super) value: &'f Spanned<DeValue<'f>>,
    pub(super) problems: &'f Problems<'f>,
}

impl<'f> Field<'f> {
    /// Reports that the value will not do. `must` completes the sentence "it must ...".
    pub(super) fn must(&self, must: impl fmt::Display) -> Reported {
        let (name, written) = (&self.name, self.written());
        self.is(format_args!("{name} = {written}: it must {must}"))
    }

    /// Reports what is wrong about the field, in a sentence of its own.
    pub(super) fn is(&self, message: impl fmt::Display) -> Reported {
        self.problems.report(self.value.span(), within(&self.table, message))
    }

    /// Reports why something cannot be built of the value.
    pub(super) fn invalid(&self, invalid: &Invalid) -> Reported {
        self.must(invalid.must())
    }

    pub(super) fn text(&self) -> Result<&'f str, Reported> {
        match self.value.get_ref() {
            DeValue::String(text) => Ok(text),
            _ => Err(self.must("be text in quotes")),
        }
    }

    /// A whole number that limits can count.
    pub(super) fn count(&self) -> Result<u32, Reported> {
        self.up_to(u32::MAX)
    }

    /// A whole number from 1 to this.
    pub(super) fn up_to(&self, most: u32) -> Result<u32, Reported> {
        let number = match self.value.get_ref() {
            DeValue::Integer(number) => u32::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        number
            .filter(|number| (1..=most).contains(number))
            .ok_or_else(|| self.must(format_args!("be a whole number from 1 to {most}")))
    }

    pub(super) fn flag(&self) -> Result<bool, Reported> {
        match self.value.get_ref() {
            DeValue::Boolean(flag) => Ok(*flag),
            _ => Err(self.must("be true or false")),
        }
    }

    /// A time like `10s`.
    pub(super) fn duration(&self) -> Result<Duration, Reported> {
        let duration = match self.value.get_ref() {
            DeValue::String(text) => duration(text),
            _ => None,
        };
        duration.ok_or_else(|| {
            self.must("be a whole number and its unit in quotes, like \"10s\": the units are us, ms, s, m, h and d")
        })
    }

    /// One of some words.
    pub(super) fn one_of<'w>(&self, words: &[&'w str]) -> Result<&'w str, Reported> {
        let written = match self.value.get_ref() {
            DeValue::String(text) => &**text,
            _ => "",
        };
        let word = words.iter().find(|word| **word == written).copied();
        word.ok_or_else(|| {
            let all = words.join(", ");
            match nearest(written, words) {
                Some(meant) => self.must(format_args!("be one of {all}: did you mean {meant}?")),
                None => self.must(format_args!("be one of {all}")),
            }
        })
    }

    /// Each value of a list.
    pub(super) fn list<T>(&self, read: impl Fn(&Self) -> Result<T, Reported>) -> Result<Vec<T>, Reported> {
        let DeValue::Array(values) = self.value.get_ref() else {
            return Err(match self.value.get_ref() {
                DeValue::String(_) => self.must(format_args!("be a list in brackets, like [{}]", self.written())),
                _ => self.must("be a list in brackets, of texts in quotes"),
            });
        };
        // All of them are looked at, whatever is wrong with the first.
        let all: Vec<_> = values.iter().map(|value| read(&self.element(value))).collect();
        all.into_iter().collect()
    }

    /// Each value of a list, of which there has to be one.
    pub(super) fn some<T>(&self, read: impl Fn(&Self) -> Result<T, Reported>) -> Result<Vec<T>, Reported> {
        match self.list(read)? {
            none if none.is_empty() => Err(self.must("name one at least")),
            some => Ok(some),
        }
    }

    /// A single value, or each of a list.
    pub(super) fn one_or_some<T>(&self, read: impl Fn(&Self) -> Result<T, Reported>) -> Result<Vec<T>, Reported> {
        match self.value.get_ref() {
            DeValue::Array(_) => self.some(read),
            _ => read(self).map(|one| vec![one]),
        }
    }

    /// The byte that the value begins at.
    pub(super) fn at(&self) -> usize {
        self.value.span().start
    }

    /// The line of a byte of the file.
    pub(super) fn line_of(&self, at: usize) -> usize {
        self.problems.line(at)
    }

    fn element(&self, value: &'f Spanned<DeValue<'f>>) -> Self {
        Self {
            table: self.table.clone(),
            name: self.name.clone(),
            value,
            problems: self.problems,
        }
    }

    /// As it stands in the file, if that is short.
    fn written(&self) -> &'f str {
        let written = self.problems.text().get(self.value.span()).unwrap_or_default();
        let line = written.lines().next().unwrap_or_default();
        let end = line.char_indices().nth(LONGEST).map_or(line.len(), |(end, _)| end);
        &line[..end]
    }
}

fn duration(text: &str) -> Option<Duration> {
    let unit = text.find(|letter: char| !letter.is_ascii_digit())?;
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
    // What is too long is said by whoever knows how long is too long.
    let number: u64 = number.parse().unwrap_or(u64::MAX);
    Some(Duration::from_micros(number.saturating_mul(micros)))
}
