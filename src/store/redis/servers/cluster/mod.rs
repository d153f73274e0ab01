//! A Redis cluster: keys are mapped to slots, and slots to nodes.
//!
//! The slot map is fetched on first use, when a node fails, and when a node replies with MOVED. Every node is a [`Server`] with
//! its own connection pool and circuit breaker.

mod cluster;
mod slot;
mod topology;

pub(crate) use self::{cluster::Cluster, slot::Slot};
