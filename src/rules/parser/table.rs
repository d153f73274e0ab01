//! A table of the file, which records the fields that are read.

use std::fmt;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    diagnostics::{Diagnostics, Reported, nearest, prefixed},
    field::Field,
};
use crate::config_error::ConfigError;

pub(super) struct Table<'f> {
    /// The label in messages, like `limit "user"`; empty for the document.
    pub(super) label: String,
    /// The byte offset of the table.
    offset: usize,
    fields: &'f DeTable<'f>,
    /// The names of the fields that have been requested.
    known: Vec<&'static str>,
    diagnostics: &'f Diagnostics<'f>,
}

impl<'f> Table<'f> {
    /// The document.
    pub(super) fn document(fields: &'f DeTable<'f>, diagnostics: &'f Diagnostics<'f>) -> Self {
        Self::new(String::new(), 0, fields, diagnostics)
    }

    /// The table in a field. `like` is an example for messages.
    pub(super) fn of(field: &Field<'f>, label: String, like: &str) -> Result<Self, Reported> {
        match field.value.get_ref() {
            DeValue::Table(fields) => Ok(Self::new(label, field.offset(), fields, field.diagnostics)),
            _ => Err(field.must(format_args!("be a table, like {like}"))),
        }
    }

    fn new(label: String, offset: usize, fields: &'f DeTable<'f>, diagnostics: &'f Diagnostics<'f>) -> Self {
        let known = Vec::new();
        Self {
            label,
            offset,
            fields,
            known,
            diagnostics,
        }
    }

    /// The field with this name, if it exists.
    pub(super) fn get(&mut self, name: &'static str) -> Option<Field<'f>> {
        self.known.push(name);
        self.find(name)
    }

    /// The field with this name, for messages about it.
    pub(super) fn find(&self, name: &str) -> Option<Field<'f>> {
        let (key, value) = self.fields.iter().find(|(key, _)| *key.get_ref() == name)?;
        Some(self.field(key.get_ref(), value))
    }

    /// The required field with this name. `like` is an example for messages.
    pub(super) fn require(&mut self, name: &'static str, like: &str) -> Result<Field<'f>, Reported> {
        let field = self.get(name);
        field.ok_or_else(|| self.report(format_args!("{name} is missing: add one like {like}")))
    }

    /// The value of the field with this name, if it exists.
    pub(super) fn read<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&Field<'f>) -> Result<T, Reported>,
    ) -> Result<Option<T>, Reported> {
        self.get(name).as_ref().map(read).transpose()
    }

    /// The tables of `[[name]]`, or none.
    pub(super) fn tables(&mut self, name: &'static str) -> Result<Vec<Self>, Reported> {
        let Some(field) = self.get(name) else {
            return Ok(Vec::new());
        };
        let brackets = || field.must(format_args!("be written [[{name}]], in two brackets, once for each"));
        let DeValue::Array(values) = field.value.get_ref() else {
            return Err(brackets());
        };
        let tables = values.iter().enumerate().map(|(index, value)| match value.get_ref() {
            DeValue::Table(fields) => {
                let label = format!("{name} {}", index + 1);
                Ok(Self::new(label, value.span().start, fields, self.diagnostics))
            }
            _ => Err(brackets()),
        });
        tables.collect()
    }

    /// All fields with their keys. Messages name them `prefix.key`.
    pub(super) fn fields(&self, prefix: &str) -> impl Iterator<Item = (&'f str, Field<'f>)> {
        self.fields.iter().map(move |(key, value)| {
            let name = key.get_ref();
            // Quoted where TOML requires it, and without line breaks.
            let field = match is_bare(name) {
                true => format!("{prefix}.{name}"),
                false => format!("{prefix}.{name:?}"),
            };
            (&**name, self.field(&field, value))
        })
    }

    /// Reports a fault of the whole table.
    pub(super) fn report(&self, message: impl fmt::Display) -> Reported {
        self.diagnostics
            .report(self.offset..self.offset, prefixed(&self.label, message))
    }

    /// Reports the error of a constructor at the field that caused it.
    pub(super) fn invalid(&self, error: &ConfigError) -> Reported {
        match (self.find(error.field()), self.find("limit")) {
            (Some(field), _) => field.invalid(error),
            // The limit is the default of the capacity.
            (None, Some(limit)) if error.field() == "capacity" => limit.report(error),
            // A plan inherits the field from its limit, where it has been reported.
            (None, _) => Reported,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Reports the unknown fields: those that have not been requested.
    pub(super) fn finish(self) {
        for key in self.fields.keys() {
            let name = key.get_ref();
            if self.known.contains(&&**name) {
                continue;
            }
            let hint = match nearest(name, &self.known) {
                Some(meant) => format!("did you mean {meant}?"),
                None => format!("known fields are {}", self.known.join(", ")),
            };
            let message = format!("unknown field {name:?}: {hint}");
            self.diagnostics.report(key.span(), prefixed(&self.label, message));
        }
    }

    fn field(&self, name: &str, value: &'f Spanned<DeValue<'f>>) -> Field<'f> {
        Field {
            table: self.label.clone(),
            name: name.to_owned(),
            value,
            diagnostics: self.diagnostics,
        }
    }
}

/// Whether a key needs no quotes in TOML.
fn is_bare(name: &str) -> bool {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !name.is_empty() && name.bytes().all(bare)
}
