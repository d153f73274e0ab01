//! A standalone Redis, or the nodes of a cluster.

use std::sync::Arc;

use super::{
    cluster::{Cluster, Slot},
    server::{Breaker, Server},
};

pub(crate) enum Servers {
    One(Arc<Server>),
    Cluster(Arc<Cluster>),
}

impl Servers {
    /// The address for logs and errors that concern no particular node.
    pub(crate) fn address(&self) -> &Arc<str> {
        match self {
            Self::One(server) => server.address(),
            Self::Cluster(cluster) => cluster.address(),
        }
    }

    /// The slot of a key. All keys of a call are in one slot.
    pub(crate) fn slot(&self, key: impl FnOnce() -> String) -> Slot {
        match self {
            Self::One(_) => Slot::ONLY,
            Self::Cluster(_) => Slot::of(&key()),
        }
    }

    /// The circuit breakers of all known nodes.
    pub(crate) fn breakers(&self) -> Vec<Arc<Breaker>> {
        match self {
            Self::One(server) => vec![Arc::clone(&server.breaker)],
            Self::Cluster(cluster) => cluster.breakers(),
        }
    }
}
