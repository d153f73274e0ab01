//! The events of the nodes' stream: one [`NodesInfo`], then many [`NodesFrame`]s a second. Times are in microseconds.

use serde::Serialize;
use tollgate::Micros;

use super::settings::NodesSettings;

/// The constants of a session.
#[derive(Debug, Serialize)]
pub(crate) struct NodesInfo {
    /// Identifies the session in the URLs of its commands.
    pub(super) id: String,
    pub(super) settings: NodesSettings,
}

/// The state of a session.
#[derive(Debug, Serialize)]
pub(crate) struct NodesFrame {
    pub(super) now: Micros,
    /// The actions so far, as in the page's URL.
    pub(super) play: String,
    /// Whether the last action did not fit into a URL.
    pub(super) is_full: bool,
    pub(super) nodes: Vec<NodeState>,
    pub(super) redis: Option<RedisState>,
    /// The requests since the last frame.
    pub(super) requests: Vec<NodeResult>,
    pub(super) store_error: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct NodeState {
    pub(super) streaming: bool,
    /// Requests that its leases admitted.
    pub(super) leased: u64,
    /// Requests that Redis admitted.
    pub(super) admitted: u64,
    pub(super) denied: u64,
    /// Requests without a decision.
    pub(super) failed: u64,
    /// Units that it holds.
    pub(super) held: u64,
    /// Leases that it was granted.
    pub(super) leases: u64,
    /// Units that it returned.
    pub(super) returned: u64,
    /// Calls to Redis.
    pub(super) calls: u64,
    /// The same requests without a lease.
    pub(super) unleased: UnleasedState,
    /// The last decision.
    pub(super) summary: String,
}

/// A node without a lease that gets the same requests.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct UnleasedState {
    pub(super) admitted: u64,
    pub(super) denied: u64,
    pub(super) calls: u64,
}

/// The window of the leased limit in Redis.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct RedisState {
    /// Units that are not charged.
    pub(super) remaining: u64,
    /// The time until the window ends, or 0 if none has begun.
    pub(super) ends_in: Micros,
}

/// A decision about a request.
#[derive(Debug, Serialize)]
pub(crate) struct NodeResult {
    /// The number of the node, which is a lane of the timeline.
    pub(super) lane: usize,
    pub(super) at: Micros,
    pub(super) outcome: &'static str,
}
