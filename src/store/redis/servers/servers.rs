//! The one there is, or those of a cluster.

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
    /// What logs and errors call it while nobody in particular is meant.
    pub(crate) fn address(&self) -> &Arc<str> {
        match self {
            Self::One(server) => server.address(),
            Self::Cluster(cluster) => cluster.address(),
        }
    }

    /// Where a key belongs. All keys of a call belong to one slot.
    pub(crate) fn slot(&self, key: impl FnOnce() -> String) -> Slot {
        match self {
            Self::One(_) => Slot::ONLY,
            Self::Cluster(_) => Slot::of(&key()),
        }
    }

    /// All that are known of, and what is known of each.
    pub(crate) fn breakers(&self) -> Vec<Arc<Breaker>> {
        match self {
            Self::One(server) => vec![Arc::clone(&server.breaker)],
            Self::Cluster(cluster) => cluster.breakers(),
        }
    }
}
