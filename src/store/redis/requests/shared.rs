//! The state that all requests of a store share.

use std::time::Duration;

use super::{denied::Denied, queues::Queues};
use crate::{
    charge::Charge,
    clock::Clock,
    operation::Operation,
    store::redis::{
        servers::{Servers, Slot},
        wire::Prefix,
    },
};

pub(crate) struct Shared {
    pub(crate) servers: Servers,
    pub(crate) queues: Queues,
    /// The number of connections per node.
    pub(crate) lanes: usize,
    /// `None` if denials are not cached, as with a clock other than that of Redis.
    pub(crate) denied: Option<Denied>,
    pub(crate) prefix: Prefix,
    pub(crate) deadline: Duration,
    pub(crate) clock: Clock,
    /// Whether calls contain the time of that clock. Otherwise Redis uses its own.
    pub(crate) named_time: bool,
}

impl Shared {
    pub(crate) fn slot(&self, charge: &Charge) -> Slot {
        self.servers.slot(|| self.prefix.key(charge))
    }

    /// The slot of all charges of an operation, if they share one.
    pub(crate) fn slot_of_all(&self, operation: &Operation) -> Option<Slot> {
        let mut slots = operation.charges().map(|charge| self.slot(charge));
        let first = slots.next()?;
        slots.all(|slot| slot == first).then_some(first)
    }
}
