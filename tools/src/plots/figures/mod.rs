//! What is drawn, and from which figures.

mod accuracy;
mod all;
mod figure;
mod over_admission;
mod timeline;

pub(crate) use self::all::all;
