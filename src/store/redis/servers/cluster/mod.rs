//! A cluster: keys are spread over slots, and slots over nodes.
//!
//! Who has which slots is asked when it is first needed, when a node fails, and when a node says that a slot has moved.
//! Every node is a [`Server`] with connections of its own, and is given up and found again by itself.

mod cluster;
mod slot;
mod topology;

pub(crate) use self::{cluster::Cluster, slot::Slot};
