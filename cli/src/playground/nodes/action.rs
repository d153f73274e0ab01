//! What the user sends to the nodes, with its names in the page and its URL.

use crate::playground::session::NamedAction;

/// The number of nodes.
pub(super) const NODES: usize = 2;

/// An action for the node of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeAction {
    /// Send one request.
    One(usize),
    /// Start a steady stream.
    Stream(usize),
    /// Stop the stream.
    Stop(usize),
}

impl NamedAction for NodeAction {
    const ALL: &[Self] = &[
        Self::One(0),
        Self::One(1),
        Self::Stream(0),
        Self::Stream(1),
        Self::Stop(0),
        Self::Stop(1),
    ];

    const NAMES: &str = "one.a, one.b, stream.a, stream.b, stop.a or stop.b";

    fn name(self) -> &'static str {
        match self {
            Self::One(0) => "one.a",
            Self::One(_) => "one.b",
            Self::Stream(0) => "stream.a",
            Self::Stream(_) => "stream.b",
            Self::Stop(0) => "stop.a",
            Self::Stop(_) => "stop.b",
        }
    }

    fn is_stop(self) -> bool {
        matches!(self, Self::Stop(_))
    }
}
