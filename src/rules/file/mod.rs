//! Reading a rules file: all that is wrong with it is found at once, and told with its place.
//!
//! The file is read by hand, field by field, and not into types by serde, which would stop at the first thing that is wrong.
//! Whoever reads a field that is wrong reports it and gets `Reported`; whatever needed the field is left out, and the next one is
//! read. What nobody has asked for is unknown, and is reported, too.

mod exempt;
mod field;
mod key;
mod limit;
mod nearest;
mod parse;
mod plans;
mod problems;
mod scope;
mod settings;
mod syntax;
mod table;
mod trust;

pub(super) use self::parse::{broken_off, parse};
