//! The data about a lane that the page gets.

use serde::Serialize;
use tollgate::Micros;

use super::drawing::Drawing;

/// The constants of a lane.
#[derive(Debug, Serialize)]
pub(crate) struct LaneInfo {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// Whether it limits what passes in a window.
    pub(super) limits_rate: bool,
}

/// The result of a request in a lane.
#[derive(Debug, Serialize)]
pub(crate) struct RequestResult {
    pub(super) lane: usize,
    pub(super) at: Micros,
    pub(super) outcome: &'static str,
    /// The time at which the request passes, if it is not denied.
    pub(super) passes_at: Option<Micros>,
}

#[derive(Debug, Serialize)]
pub(crate) struct LaneState {
    pub(super) drawing: Option<Drawing>,
    #[serde(flatten)]
    pub(super) counts: OutcomeCounts,
    pub(super) max_in_span: usize,
    pub(super) max_in_window: usize,
    pub(super) explanation: String,
    #[serde(flatten)]
    pub(super) last: Option<LastResponse>,
}

/// Requests by outcome. A queued request is admitted with a delay.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct OutcomeCounts {
    pub(super) admitted: u32,
    pub(super) queued: u32,
    pub(super) denied: u32,
    /// Passed because the store failed.
    pub(super) unchecked: u32,
}

/// The last response, as a summary and in full.
#[derive(Debug, Serialize)]
pub(super) struct LastResponse {
    pub(super) summary: String,
    pub(super) response: String,
}
