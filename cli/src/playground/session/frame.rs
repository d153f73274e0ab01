//! The events of a session's stream: one [`SessionInfo`], then many [`Frame`]s a second. Times are in microseconds.

use serde::Serialize;
use tollgate::Micros;

use super::settings::Settings;
use crate::playground::lane::{LaneInfo, LaneState, RequestResult};

/// The constants of a session.
#[derive(Debug, Serialize)]
pub(crate) struct SessionInfo {
    /// Identifies the session in the URLs of its commands.
    pub(crate) id: String,
    /// `memory` or `redis`.
    pub(crate) store: &'static str,
    pub(crate) settings: Settings,
    pub(crate) lanes: Vec<LaneInfo>,
    /// The length of the short span whose maximum the lanes show.
    pub(crate) span: Micros,
    pub(crate) step: Micros,
}

/// The state of a session.
#[derive(Debug, Serialize)]
pub(crate) struct Frame {
    pub(crate) now: Micros,
    pub(crate) speed: String,
    pub(crate) paused: bool,
    pub(crate) streaming: bool,
    /// The actions so far, as in the page's URL.
    pub(crate) play: String,
    /// Whether the last action did not fit into a URL.
    pub(crate) is_full: bool,
    /// When the last overload ends.
    pub(crate) overload_end: Option<Micros>,
    /// The times of planned requests.
    pub(crate) planned: Vec<Micros>,
    /// In the order of [`SessionInfo::lanes`].
    pub(crate) lanes: Vec<LaneState>,
    /// The requests since the last frame.
    pub(crate) requests: Vec<RequestResult>,
    pub(crate) store_error: Option<String>,
}
