//! What this node holds of concurrency limits.
//!
//! Redis keeps a count per node. Acquires and releases change it by what they cost. If the answer to one of them is lost, the node does not
//! know the count: then it begins a new epoch with the count that it knows, and calls of earlier epochs have no effect any more, neither
//! in Redis nor, by their answers, here. A node that holds anything renews it three times per time-to-live.

mod holder;
mod key_slots;
mod renewer;
#[cfg(test)]
mod simulation;
mod slot_call;

pub(crate) use self::{holder::NodeHolder, slot_call::SlotCall};
