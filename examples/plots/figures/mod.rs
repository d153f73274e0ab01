//! What is drawn, and from which figures.

mod accuracy;
mod over_admission;
mod timeline;

use crate::traffic;

/// A file to be written, and what it shows in words.
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) svg: String,
    pub(crate) facts: Vec<String>,
}

pub(crate) fn all() -> Vec<Figure> {
    let timelines = traffic::ALL.iter().map(timeline::draw);
    let summaries = [over_admission::draw(), accuracy::draw()];
    timelines.chain(summaries).collect()
}
