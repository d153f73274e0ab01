//! Which Redis a call goes to: the one there is, or the one of a cluster that has the keys.
//!
//! Each is a [`Server`]: some connections, and whether it is worth asking. Sentinels and clusters are asked where it is
//! (`directory`).

mod cluster;
mod directory;
mod errand;
mod server;
mod terms;

use std::sync::Arc;

pub(super) use self::{
    cluster::{Cluster, Slot},
    server::{Breaker, Line, Probing, Sentinels, Server, Way},
    terms::Terms,
};

pub(super) enum Servers {
    One(Arc<Server>),
    Cluster(Arc<Cluster>),
}

impl Servers {
    /// What logs and errors call it while nobody in particular is meant.
    pub(super) fn address(&self) -> &Arc<str> {
        match self {
            Self::One(server) => server.address(),
            Self::Cluster(cluster) => cluster.address(),
        }
    }

    /// Where a key belongs. All keys of a call belong to one slot.
    pub(super) fn slot(&self, key: impl FnOnce() -> String) -> Slot {
        match self {
            Self::One(_) => Slot::ONLY,
            Self::Cluster(_) => Slot::of(&key()),
        }
    }

    /// All that are known of, and what is known of each.
    pub(super) fn breakers(&self) -> Vec<Arc<Breaker>> {
        match self {
            Self::One(server) => vec![Arc::clone(&server.breaker)],
            Self::Cluster(cluster) => cluster.breakers(),
        }
    }
}
