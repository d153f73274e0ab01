//! What a page is told: once of the scene, and many times a second of how it stands.

use serde::Serialize;
use tollgate::Micros;

use super::settings::Settings;
use crate::playground::lane::{About, Sent, Shown};

/// What does not change while a scene is played. Times are in microseconds, here and in frames.
#[derive(Debug, Serialize)]
pub(crate) struct Opening {
    /// What its commands are addressed to.
    pub(crate) id: String,
    /// Where it counts.
    pub(crate) store: &'static str,
    pub(crate) settings: Settings,
    pub(crate) lanes: Vec<About>,
    /// The short while that the lanes count the busiest of.
    pub(crate) span: Micros,
    pub(crate) step: Micros,
}

/// How a scene stands.
#[derive(Debug, Serialize)]
pub(crate) struct Frame {
    pub(crate) now: Micros,
    pub(crate) speed: String,
    pub(crate) paused: bool,
    pub(crate) streaming: bool,
    /// What was pressed for, as an address spells it.
    pub(crate) play: String,
    /// Whether there is no more room for presses in an address.
    pub(crate) full: bool,
    /// When requests come that are planned.
    pub(crate) planned: Vec<Micros>,
    /// One each, in the order of the opening.
    pub(crate) lanes: Vec<Shown>,
    /// What has come since the last frame.
    pub(crate) requests: Vec<Sent>,
    /// Why the store could not be asked, if it could not.
    pub(crate) trouble: Option<String>,
}
