//! Which Redis a call goes to: the one there is, or the one of a cluster that has the keys.

use std::sync::Arc;

use super::{
    cluster::{Cluster, Slot},
    queue::Queue,
    server::{Breaker, Server},
};

pub(super) enum Servers {
    One { server: Arc<Server>, queue: Queue },
    Cluster(Arc<Cluster>),
}

impl Servers {
    pub(super) fn one(server: Server) -> Self {
        Self::One {
            server: Arc::new(server),
            queue: Queue::default(),
        }
    }

    /// What logs and errors call it while nobody in particular is meant.
    pub(super) fn address(&self) -> &Arc<str> {
        match self {
            Self::One { server, .. } => server.address(),
            Self::Cluster(cluster) => cluster.address(),
        }
    }

    /// Where a key belongs. All keys of a call belong to one slot.
    pub(super) fn slot(&self, key: impl FnOnce() -> String) -> Slot {
        match self {
            Self::One { .. } => Slot::ONLY,
            Self::Cluster(_) => Slot::of(&key()),
        }
    }

    pub(super) fn queue(&self, slot: Slot) -> &Queue {
        match self {
            Self::One { queue, .. } => queue,
            Self::Cluster(cluster) => cluster.queue(slot),
        }
    }

    /// All that are known of, and what is known of each.
    pub(super) fn breakers(&self) -> Vec<Arc<Breaker>> {
        match self {
            Self::One { server, .. } => vec![Arc::clone(&server.breaker)],
            Self::Cluster(cluster) => cluster.breakers(),
        }
    }
}
