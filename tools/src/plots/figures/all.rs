//! All that are drawn.

use super::{accuracy, figure::Figure, over_admission, timeline};
use crate::traffic;

pub(crate) fn all() -> Vec<Figure> {
    let timelines = traffic::ALL.iter().map(timeline::draw);
    let summaries = [over_admission::draw(), accuracy::draw()];
    timelines.chain(summaries).collect()
}
