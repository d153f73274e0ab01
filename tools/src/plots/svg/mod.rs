//! Pictures as text: what little of SVG the figures need.

mod page;
mod theme;

pub(crate) use page::{Page, Point};
