//! The fields of a URL's query, with an error message for each that is invalid.

use std::{collections::BTreeMap, ops::RangeInclusive, str::FromStr};

use tollgate::Micros;

use super::history::parse_time;

/// Error messages by field.
pub(crate) type FieldErrors = BTreeMap<&'static str, String>;

/// Parses fields, and collects their errors.
pub(crate) struct Fields<'a> {
    query: &'a BTreeMap<String, String>,
    pub(crate) errors: FieldErrors,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(query: &'a BTreeMap<String, String>) -> Self {
        let errors = FieldErrors::new();
        Self { query, errors }
    }

    pub(crate) fn number(&mut self, field: &'static str, range: RangeInclusive<u32>, default: u32) -> u32 {
        let Some(value) = self.query.get(field) else {
            return default;
        };
        match value.parse() {
            Ok(number) if range.contains(&number) => number,
            _ => {
                let (min, max) = range.into_inner();
                self.errors
                    .insert(field, format!("must be a whole number from {min} to {max}"));
                default
            }
        }
    }

    pub(crate) fn time(&mut self, field: &'static str) -> Micros {
        let value = self.query.get(field).map_or("0", |value| value);
        parse_time(value).unwrap_or_else(|| {
            self.errors.insert(field, "must be a number of milliseconds".into());
            0
        })
    }

    pub(crate) fn parsed<T: FromStr>(
        &mut self,
        field: &'static str,
        default: T,
        message: impl Fn(T::Err) -> String,
    ) -> T {
        match self.query.get(field).map(|value| value.parse()) {
            None => default,
            Some(Ok(value)) => value,
            Some(Err(error)) => {
                self.errors.insert(field, message(error));
                default
            }
        }
    }
}
