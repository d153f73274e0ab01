//! A table of the file, while its fields are read.

use std::fmt;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{
    field::Field,
    nearest::nearest,
    problems::{Problems, Reported, within},
};
use crate::invalid::Invalid;

pub(super) struct Table<'f> {
    /// What it is called in messages, like `limit "user"`; nothing for the file itself.
    pub(super) called: String,
    /// Where it begins.
    at: usize,
    fields: &'f DeTable<'f>,
    asked: Vec<&'static str>,
    problems: &'f Problems<'f>,
}

impl<'f> Table<'f> {
    /// The whole file.
    pub(super) fn document(fields: &'f DeTable<'f>, problems: &'f Problems<'f>) -> Self {
        Self::new(String::new(), 0, fields, problems)
    }

    /// The table that a field holds, under a name for messages. `like` shows one.
    pub(super) fn of(field: &Field<'f>, called: String, like: &str) -> Result<Self, Reported> {
        match field.value.get_ref() {
            DeValue::Table(fields) => Ok(Self::new(called, field.value.span().start, fields, field.problems)),
            _ => Err(field.must(format_args!("be a table, like {like}"))),
        }
    }

    fn new(called: String, at: usize, fields: &'f DeTable<'f>, problems: &'f Problems<'f>) -> Self {
        let asked = Vec::new();
        Self {
            called,
            at,
            fields,
            asked,
            problems,
        }
    }

    /// The field of this name, if it is there.
    pub(super) fn get(&mut self, name: &'static str) -> Option<Field<'f>> {
        self.asked.push(name);
        self.find(name)
    }

    fn find(&self, name: &str) -> Option<Field<'f>> {
        let (key, value) = self.fields.iter().find(|(key, _)| *key.get_ref() == name)?;
        Some(self.field(key.get_ref(), value))
    }

    /// The field of this name, which has to be there. `like` shows one.
    pub(super) fn require(&mut self, name: &'static str, like: &str) -> Result<Field<'f>, Reported> {
        let field = self.get(name);
        field.ok_or_else(|| self.lacks(format_args!("there is no {name}: write one like {like}")))
    }

    /// What the field of this name says, if it is there.
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
                let called = format!("{name} {}", index + 1);
                Ok(Self::new(called, value.span().start, fields, self.problems))
            }
            _ => Err(brackets()),
        });
        tables.collect()
    }

    /// Every field, whatever its name, as one of the table `within`.
    pub(super) fn each(&self, within: &str) -> impl Iterator<Item = (&'f str, Field<'f>)> {
        self.fields.iter().map(move |(key, value)| {
            let name = key.get_ref();
            // It is written as it may stand in the file, and never in two lines.
            let field = match is_bare(name) {
                true => format!("{within}.{name}"),
                false => format!("{within}.{name:?}"),
            };
            (&**name, self.field(&field, value))
        })
    }

    /// Reports what the table as a whole lacks.
    pub(super) fn lacks(&self, what: impl fmt::Display) -> Reported {
        self.problems.report(self.at..self.at, within(&self.called, what))
    }

    /// Reports why something cannot be built of the table, at the field that is to blame.
    pub(super) fn invalid(&self, invalid: &Invalid) -> Reported {
        match (self.find(invalid.field()), self.find("limit")) {
            (Some(field), _) => field.invalid(invalid),
            // A capacity that nobody has written is the limit.
            (None, Some(limit)) if invalid.field() == "capacity" => limit.is(invalid),
            // What a plan has from its limit is told of there.
            (None, _) => Reported,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Reports the fields that nobody has asked for.
    pub(super) fn finish(self) {
        for key in self.fields.keys() {
            let name = key.get_ref();
            if self.asked.contains(&&**name) {
                continue;
            }
            let hint = match nearest(name, &self.asked) {
                Some(meant) => format!("did you mean {meant}?"),
                None => format!("there are {}", self.asked.join(", ")),
            };
            let message = format!("there is no field {name:?}: {hint}");
            self.problems.report(key.span(), within(&self.called, message));
        }
    }

    fn field(&self, name: &str, value: &'f Spanned<DeValue<'f>>) -> Field<'f> {
        Field {
            table: self.called.clone(),
            name: name.to_owned(),
            value,
            problems: self.problems,
        }
    }
}

/// Whether a name needs no quotes.
fn is_bare(name: &str) -> bool {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    !name.is_empty() && name.bytes().all(bare)
}
