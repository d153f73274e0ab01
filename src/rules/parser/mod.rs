//! The parser of rules files.
//!
//! It reads the document field by field instead of deserializing it with serde, which would stop at the first error. Reading an
//! invalid field adds a diagnostic and returns `Reported`; the parser skips what depends on the field, and continues with the
//! next one. A field that no reader has requested is unknown and reported, too.

mod descriptor;
mod diagnostics;
mod exempt;
mod field;
mod key;
mod limit;
mod outcome;
mod parse;
mod plans;
mod request_rule;
mod scope;
mod settings;
mod table;
mod trust;

pub(super) use self::parse::{invalid_utf8, parse};
