//! One algorithm in a scene: a service behind the real layer, and what is shown of it.

mod answers;
mod drawing;
mod passed;
mod sending;
mod words;

pub(crate) use self::sending::{About, Lane, Request, Shown};
