//! Two nodes that share a limit with a lease, through Redis.
//!
//! Leases end by the clock of Redis, so this scene runs in real time, unlike the lanes. A node is a thread with its own runtime, a
//! [`RedisStore`](tollgate::RedisStore) and the library's own metrics, which count what the node leases and how often it calls
//! Redis. A second pair of nodes gets the same requests under the same limit without a lease, to compare with.

mod action;
mod frame;
mod meter;
mod node;
mod session;
mod settings;

pub(crate) use self::{
    action::NodeAction,
    frame::{NodesFrame, NodesInfo},
    session::NodesSession,
    settings::NodesSettings,
};
