//! What can be read in one way only.

mod path;
mod request;

pub(crate) use self::request::tidy;
