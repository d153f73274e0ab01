//! The router: which node serves a request, and the call to it.
//!
//! The [`Topology`] has the nodes and the slot map. A standalone Redis is one node that serves the only slot; the nodes of a cluster
//! are discovered, and redirects (MOVED, ASK) update the map. [`Router::route`] sends a batch, by a round trip per attempt.
//! `scatter` splits an operation whose keys are in several slots, and merges the answers.

mod node;
mod round_trip;
mod router;
pub(super) mod scatter;
mod slot_map;
mod topology;

pub(super) use self::{node::Node, router::Router, slot_map::Slot, topology::Seeds};
