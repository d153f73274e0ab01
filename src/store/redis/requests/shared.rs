//! What all requests of a store share.

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
    /// How many connections each of them has.
    pub(crate) lanes: usize,
    /// Unless refusals are not to be repeated, as on a clock that does not go with the time.
    pub(crate) denied: Option<Denied>,
    pub(crate) prefix: Prefix,
    pub(crate) deadline: Duration,
    pub(crate) clock: Clock,
    /// Whether calls name the time by that clock. Otherwise Redis goes by its own.
    pub(crate) named_time: bool,
}

impl Shared {
    pub(crate) fn slot(&self, charge: &Charge) -> Slot {
        self.servers.slot(|| self.prefix.key(charge))
    }

    /// The slot of everything that an operation is about, if there is only one.
    pub(crate) fn slot_of_all(&self, operation: &Operation) -> Option<Slot> {
        let mut slots = operation.charges().map(|charge| self.slot(charge));
        let first = slots.next()?;
        slots.all(|slot| slot == first).then_some(first)
    }
}
