//! The figures, and the data that each one draws.

mod accuracy;
mod exactness;
mod over_admission;
mod overload;
mod timeline;

use crate::traffic;

/// An SVG file, and its content as text.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) svg: String,
    pub(crate) facts: Vec<String>,
}

pub(crate) fn all() -> Vec<Figure> {
    let timelines = traffic::ALL.iter().map(timeline::draw);
    let summaries = [over_admission::draw(), accuracy::draw(), overload::draw()];
    timelines.chain(summaries).chain(exactness::draw()).collect()
}
