//! An access log: what would have become of it.

mod line;
mod quoted;
mod replay;
mod report;
mod time;

pub(crate) use self::report::report;
