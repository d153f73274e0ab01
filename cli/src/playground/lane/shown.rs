//! What a page is told of a lane.

use serde::Serialize;
use tollgate::Micros;

use super::drawing::Drawing;

/// What does not change of a lane.
#[derive(Debug, Serialize)]
pub(crate) struct About {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) idea: &'static str,
}

/// A request that was sent to a lane.
#[derive(Debug, Serialize)]
pub(crate) struct Sent {
    pub(super) lane: usize,
    pub(super) at: Micros,
    pub(super) outcome: &'static str,
    /// When it passes, if it does.
    pub(super) passes: Option<Micros>,
}

/// How a lane stands.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    pub(super) drawing: Option<Drawing>,
    #[serde(flatten)]
    pub(super) counts: Counts,
    pub(super) most_in_span: usize,
    pub(super) most_in_window: usize,
    pub(super) why: String,
    #[serde(flatten)]
    pub(super) said: Option<Said>,
}

/// What became of requests. Whoever is queued is admitted, but not yet.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Counts {
    pub(super) admitted: u32,
    pub(super) queued: u32,
    pub(super) refused: u32,
    /// Let through because the store could not be asked.
    pub(super) unchecked: u32,
}

/// What a request was told, in short and in full.
#[derive(Debug, Serialize)]
pub(super) struct Said {
    pub(super) said: String,
    pub(super) answer: String,
}
