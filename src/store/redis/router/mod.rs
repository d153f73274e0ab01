//! The router: which node serves a request, and the calls to it.
//!
//! The [`Topology`](topology::Topology) has the nodes and the slot map. A standalone Redis is one node that serves the only slot; the
//! nodes of a cluster are discovered, and MOVED redirects update the map. [`Router::route`] sends a batch, by a call of [`Node`] per
//! attempt. `scatter` applies an operation whose keys are in several slots. `probe` finds out whether a node has recovered, for its
//! circuit breaker.

mod join_all;
mod node;
mod probe;
mod router;
mod scatter;
mod slot_map;
mod topology;

pub(super) use self::{node::Node, router::Router, slot_map::Slot, topology::Seeds};
