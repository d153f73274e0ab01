//! What became of a log's requests, by limit, by key and by minute.

mod count;
mod date;
mod report;
mod table;
mod told;

pub(crate) use self::report::Report;
