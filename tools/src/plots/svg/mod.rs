//! A minimal SVG writer for the figures.

mod page;
mod theme;

pub(crate) use page::{Page, Point};
