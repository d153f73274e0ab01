//! A queue per slot: all keys of a call are in one slot.

use std::sync::OnceLock;

use super::queue::Queue;
use crate::store::redis::servers::{Servers, Slot};

pub(crate) enum Queues {
    /// Without a cluster, there is one slot.
    One(Queue),
    /// The queues of a cluster's slots, created on first use.
    Slots(Box<[OnceLock<Box<Queue>>]>),
}

impl Queues {
    pub(crate) fn to(servers: &Servers) -> Self {
        match servers {
            Servers::One(_) => Self::One(Queue::default()),
            Servers::Cluster(_) => Self::Slots(Slot::all().map(|_| OnceLock::new()).collect()),
        }
    }

    pub(crate) fn of(&self, slot: Slot) -> &Queue {
        match self {
            Self::One(queue) => queue,
            Self::Slots(queues) => queues[slot.index()].get_or_init(Box::default),
        }
    }
}
