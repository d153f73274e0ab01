//! A cluster: its nodes, its slot map, and the refresh of that.

use std::sync::{Arc, PoisonError, RwLock};

use deadpool_redis::redis::{self, make_extension_error};

use super::{
    super::{
        directory,
        errand::{Errand, Outcome},
        server::{Breaker, Server},
        terms::Terms,
    },
    slot::Slot,
    topology::{self, Topology},
};
use crate::store::redis::error::StoreError;

/// The maximal number of nodes, besides the seeds, that a refresh asks for the slot map.
const MAX_REFRESH_NODES: usize = 8;

pub(crate) struct Cluster {
    /// The configured nodes.
    seeds: Vec<Terms>,
    known: RwLock<Topology>,
    refreshing: Errand,
    /// The circuit breaker of discovery.
    pub(crate) entrance: Arc<Breaker>,
}

impl Cluster {
    pub(crate) fn new(seeds: Vec<Terms>) -> Self {
        let addresses: Vec<String> = seeds.iter().map(Terms::address).collect();
        Self {
            seeds,
            known: RwLock::new(Topology::empty()),
            refreshing: Errand::default(),
            entrance: Arc::new(Breaker::new(&addresses.join(","))),
        }
    }

    pub(crate) fn address(&self) -> &Arc<str> {
        self.entrance.address()
    }

    /// The node that serves a slot, if it is known.
    pub(crate) fn owner(&self, slot: Slot) -> Option<Arc<Server>> {
        self.read(|known| known.owner(slot).cloned())
    }

    /// The error for a slot that no node serves.
    pub(crate) fn unserved(&self, slot: Slot) -> StoreError {
        let why = make_extension_error(
            "CLUSTERDOWN".into(),
            Some(format!("no node serves slot {}", slot.index())),
        );
        StoreError::before_sending(self.address(), why)
    }

    /// Fetches the slot map from the known nodes, or joins a refresh that is running.
    pub(crate) fn refresh(self: &Arc<Self>) -> Outcome {
        let cluster = Arc::clone(self);
        self.refreshing.join(async move {
            let terms = &cluster.seeds[0];
            let mut targets = cluster.seeds.clone();
            let is_seed = |node: &Terms| cluster.seeds.iter().any(|seed| seed.address() == node.address());
            cluster.read(|known| {
                let nodes = known.nodes.iter().map(|node| terms.at(&node.host, node.port));
                targets.extend(nodes.filter(|node| !is_seed(node)).take(MAX_REFRESH_NODES));
            });
            let mut question = redis::cmd("CLUSTER");
            question.arg("SLOTS");
            let ranges = directory::ask(targets, &question, terms.patience, topology::ranges).await?;
            cluster.write(|known| *known = known.updated(&ranges, terms));
            Ok(())
        })
    }

    /// Updates the slot map after a MOVED redirect.
    pub(crate) fn moved(self: &Arc<Self>, slot: Slot, from: &Arc<Server>, to: &str) {
        self.write(|known| {
            if let Some(number) = known.number_of(to, from, &self.seeds[0]) {
                known.set_owner(slot, number);
            }
        });
        // Other slots may have moved, too.
        self.refresh();
    }

    /// The node that a redirect names.
    pub(crate) fn node(&self, from: &Arc<Server>, to: &str) -> Option<Arc<Server>> {
        self.write(|known| {
            let number = known.number_of(to, from, &self.seeds[0])?;
            known
                .nodes
                .get(usize::from(number) - 1)
                .map(|node| Arc::clone(&node.server))
        })
    }

    /// A name whose key is in a slot of this node, if it has any.
    pub(crate) fn name_at(&self, server: &Arc<Server>, key: impl Fn(&str) -> String) -> Option<String> {
        self.read(|known| {
            let has = |slot: Slot| known.owner(slot).is_some_and(|owner| Arc::ptr_eq(owner, server));
            Slot::all().any(has).then_some(())?;
            let mut names = (0_u64..).map(|number| number.to_string());
            names.find(|name| has(Slot::of(&key(name))))
        })
    }

    /// All known nodes.
    pub(crate) fn servers(&self) -> Vec<Arc<Server>> {
        self.read(|known| known.nodes.iter().map(|node| Arc::clone(&node.server)).collect())
    }

    /// The circuit breakers of all known nodes, or that of discovery while no node is known.
    pub(crate) fn breakers(&self) -> Vec<Arc<Breaker>> {
        let servers = self.servers();
        match servers.is_empty() {
            true => vec![Arc::clone(&self.entrance)],
            false => servers.iter().map(|server| Arc::clone(&server.breaker)).collect(),
        }
    }

    fn read<T>(&self, read: impl FnOnce(&Topology) -> T) -> T {
        read(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<T>(&self, write: impl FnOnce(&mut Topology) -> T) -> T {
        write(&mut self.known.write().unwrap_or_else(PoisonError::into_inner))
    }
}
