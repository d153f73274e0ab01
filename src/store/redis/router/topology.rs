//! The nodes of a deployment: one standalone node, or a cluster whose nodes and slot map are discovered.

use std::sync::{Arc, PoisonError, RwLock, Weak};

use deadpool_redis::redis::{self, make_extension_error};

use super::{
    node::Node,
    slot_map::{self, KnownNode, Slot, SlotMap},
};
use crate::store::redis::{
    circuit_breaker::{CircuitBreaker, Probe},
    connection::{ConnectionConfig, Connector, Flight, SingleFlight, query_first},
    error::StoreError,
};

/// The maximal number of nodes, besides the seeds, that a refresh asks for the slot map.
const MAX_REFRESH_NODES: usize = 8;

/// The configured addresses.
pub(crate) enum Seeds {
    Standalone {
        address: String,
        connector: Box<Connector>,
        pool_size: usize,
    },
    Cluster(Vec<ConnectionConfig>),
}

/// What a circuit breaker probes.
pub(super) enum ProbeTarget {
    Node(Weak<Node>),
    /// The discovery of a cluster's nodes.
    Discovery,
}

/// Makes the probe of a circuit breaker.
pub(super) type ProbeFactory = Box<dyn Fn(ProbeTarget) -> Probe + Send + Sync>;

pub(crate) struct Topology {
    this: Weak<Self>,
    /// The address for logs and errors that concern no particular node.
    address: Arc<str>,
    new_probe: ProbeFactory,
    slot_map: RwLock<SlotMap>,
    /// `None` for a standalone Redis.
    cluster: Option<Cluster>,
}

/// What it takes to discover the nodes of a cluster.
struct Cluster {
    seeds: Vec<ConnectionConfig>,
    refreshing: SingleFlight,
    breaker: Arc<CircuitBreaker>,
}

impl Topology {
    pub(super) fn new(seeds: Seeds, new_probe: ProbeFactory) -> Arc<Self> {
        let (address, slot_map, cluster) = match seeds {
            Seeds::Standalone {
                address,
                connector,
                pool_size,
            } => {
                let node = Node::new(&address, *connector, pool_size, |node| {
                    new_probe(ProbeTarget::Node(node))
                });
                (address, SlotMap::standalone(node), None)
            }
            Seeds::Cluster(seeds) => {
                let addresses: Vec<String> = seeds.iter().map(ConnectionConfig::address).collect();
                let address = addresses.join(",");
                let cluster = Cluster {
                    seeds,
                    refreshing: SingleFlight::default(),
                    breaker: CircuitBreaker::new(&address, new_probe(ProbeTarget::Discovery)),
                };
                (address, SlotMap::empty(), Some(cluster))
            }
        };
        Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            address: address.into(),
            new_probe,
            slot_map: RwLock::new(slot_map),
            cluster,
        })
    }

    pub(crate) fn address(&self) -> &Arc<str> {
        &self.address
    }

    pub(crate) fn is_cluster(&self) -> bool {
        self.cluster.is_some()
    }

    /// The slot of a key. All keys of a call are in one slot.
    pub(crate) fn slot(&self, key: impl FnOnce() -> String) -> Slot {
        match self.is_cluster() {
            false => Slot::ONLY,
            true => Slot::of(&key()),
        }
    }

    /// The node that serves a slot, if it is known.
    pub(super) fn owner(&self, slot: Slot) -> Option<Arc<Node>> {
        self.read(|map| map.owner(slot).cloned())
    }

    /// The error for a slot that no node serves.
    pub(super) fn unserved(&self, slot: Slot) -> StoreError {
        let why = make_extension_error(
            "CLUSTERDOWN".into(),
            Some(format!("no node serves slot {}", slot.index())),
        );
        StoreError::before_sending(&self.address, why)
    }

    /// The circuit breaker of discovery.
    pub(super) fn discovery_breaker(&self) -> Option<&Arc<CircuitBreaker>> {
        self.cluster.as_ref().map(|cluster| &cluster.breaker)
    }

    /// Fetches the slot map from the known nodes, or joins a refresh that is running. `None` for a standalone Redis.
    pub(crate) fn refresh(&self) -> Option<Flight> {
        self.refresh_from(None)
    }

    /// The same, and asks the others only if this node does not answer.
    fn refresh_from(&self, preferred: Option<&Arc<Node>>) -> Option<Flight> {
        let cluster = self.cluster.as_ref()?;
        let config = cluster.seeds[0].clone();
        let is_seed = |node: &ConnectionConfig| cluster.seeds.iter().any(|seed| seed.address() == node.address());
        let mut targets = cluster.seeds.clone();
        let preferred = self.read(|map| {
            let at = |known: &KnownNode| config.at(&known.host, known.port);
            let others = map.nodes.iter().map(at).filter(|node| !is_seed(node));
            targets.extend(others.take(MAX_REFRESH_NODES));
            let is_preferred = |known: &&KnownNode| preferred.is_some_and(|node| Arc::ptr_eq(&known.node, node));
            map.nodes.iter().find(is_preferred).map(at)
        });
        let topology = Weak::clone(&self.this);
        Some(cluster.refreshing.join(async move {
            let mut query = redis::cmd("CLUSTER");
            query.arg("SLOTS");
            let timeout = config.connect_timeout;
            let ranges = match query_first(preferred, &query, timeout, slot_map::parse_ranges).await {
                Ok(ranges) => ranges,
                Err(_) => query_first(targets, &query, timeout, slot_map::parse_ranges).await?,
            };
            if let Some(topology) = topology.upgrade() {
                topology.write(|map| {
                    let is_first = map.nodes.is_empty();
                    *map = map.updated(&ranges, |host, port| match is_first {
                        true => topology.new_node(host, port),
                        false => topology.joined_node(host, port),
                    });
                });
            }
            Ok(())
        }))
    }

    /// Updates the slot map after a MOVED redirect.
    pub(super) fn moved(&self, slot: Slot, from: &Arc<Node>, to: &str) {
        self.write(|map| {
            if let Some(number) = map.redirect_target(to, from, |host, port| self.joined_node(host, port)) {
                map.set_owner(slot, number);
            }
        });
        // Other slots may have moved, too. Another node may not know of it yet, and would undo the redirect.
        self.refresh_from(Some(from));
    }

    /// The node that a redirect names.
    pub(super) fn redirect_target(&self, from: &Arc<Node>, to: &str) -> Option<Arc<Node>> {
        self.write(|map| {
            let number = map.redirect_target(to, from, |host, port| self.joined_node(host, port))?;
            map.nodes
                .get(usize::from(number) - 1)
                .map(|known| Arc::clone(&known.node))
        })
    }

    /// A node that was found after others. It may be a promoted replica, which lacks the last writes.
    fn joined_node(&self, host: &str, port: u16) -> Arc<Node> {
        let cluster = self.cluster.as_ref().expect("nodes join only a cluster");
        cluster.seeds[0].reconnects.increment();
        self.new_node(host, port)
    }

    /// A node of the cluster, with the connection settings of the seeds.
    fn new_node(&self, host: &str, port: u16) -> Arc<Node> {
        let cluster = self.cluster.as_ref().expect("only a cluster has other nodes");
        let config = cluster.seeds[0].at(host, port);
        let (address, pool_size) = (config.address(), config.pool_size);
        Node::new(&address, Connector::direct(config), pool_size, |node| {
            (self.new_probe)(ProbeTarget::Node(node))
        })
    }

    /// A name whose key is in a slot of this node, if it has any: `name` for a standalone Redis, and a number in a cluster.
    pub(crate) fn name_served_by(&self, node: &Arc<Node>, name: &str, key: impl Fn(&str) -> String) -> Option<String> {
        if !self.is_cluster() {
            return Some(name.into());
        }
        self.read(|map| {
            let has = |slot: Slot| map.owner(slot).is_some_and(|owner| Arc::ptr_eq(owner, node));
            Slot::all().any(has).then_some(())?;
            let mut names = (0_u64..).map(|number| number.to_string());
            names.find(|name| has(Slot::of(&key(name))))
        })
    }

    /// All known nodes.
    pub(crate) fn nodes(&self) -> Vec<Arc<Node>> {
        self.read(|map| map.nodes.iter().map(|known| Arc::clone(&known.node)).collect())
    }

    /// The circuit breakers of all known nodes, or that of discovery while no node is known.
    pub(crate) fn breakers(&self) -> Vec<Arc<CircuitBreaker>> {
        let nodes = self.nodes();
        match &self.cluster {
            Some(cluster) if nodes.is_empty() => vec![Arc::clone(&cluster.breaker)],
            _ => nodes.iter().map(|node| Arc::clone(&node.breaker)).collect(),
        }
    }

    fn read<T>(&self, read: impl FnOnce(&SlotMap) -> T) -> T {
        read(&self.slot_map.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<T>(&self, write: impl FnOnce(&mut SlotMap) -> T) -> T {
        write(&mut self.slot_map.write().unwrap_or_else(PoisonError::into_inner))
    }
}
