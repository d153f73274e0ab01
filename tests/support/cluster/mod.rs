//! Three primaries, each with a replica, that share the slots of a Redis Cluster.

mod migration;
mod view;

use std::process::Command;

pub use migration::Migration;
use tollgate::{RedisStore, RedisStoreBuilder, redis::Connection};
use view::View;

use super::{
    folder::Folder,
    patience::{until, until_some},
    port::Port,
    redis::{DEADLINE, RedisServer, ask},
};

const NODES: usize = 6;
/// The nodes talk to each other at a port so far above the one for clients.
const BUS: u16 = 10_000;

/// In milliseconds, until a node that does not answer has failed.
const LONG_TIMEOUT: &str = "60000";
const SHORT_TIMEOUT: &str = "1500";

pub struct Cluster {
    pub nodes: Vec<RedisServer>,
    _buses: Vec<Port>,
    _folders: Vec<Folder>,
}

impl Cluster {
    /// Returns when every node knows all of the slots, and the replicas have what their primaries have.
    pub fn start() -> Self {
        let (mut nodes, mut buses, mut folders) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..NODES {
            let ([port, bus], folder) = (Port::free_with(BUS), Folder::new("node"));
            nodes.push(start_node(port, &folder));
            buses.push(bus);
            folders.push(folder);
        }
        let cluster = Self {
            nodes,
            _buses: buses,
            _folders: folders,
        };
        cluster.create();
        cluster.await_replicas(NODES / 2);
        cluster
    }

    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(RedisServer::url).collect()
    }

    /// A store on this cluster.
    pub fn store(&self) -> RedisStoreBuilder {
        RedisStore::builder().cluster(self.urls()).deadline(DEADLINE)
    }

    /// The nodes that have slots, by the word of all that answer.
    pub fn primaries(&self) -> Vec<usize> {
        let ports = self.agreed("who has slots", |view| Some(view.primaries()));
        ports.into_iter().map(|port| self.node_at(port)).collect()
    }

    /// The node that has this slot, by the word of all that answer.
    pub fn node_of(&self, slot: u16) -> usize {
        self.node_at(self.agreed("who has the slot", |view| view.owner(slot)))
    }

    /// A plain client of the node that has this slot.
    pub fn client_of(&self, slot: u16) -> Connection {
        self.nodes[self.node_of(slot)].client()
    }

    /// The slot of a key.
    pub fn slot_of(&self, key: &str) -> u16 {
        let running = self.nodes.iter().find(|node| node.is_running()).unwrap();
        ask(&mut running.client(), &format!("CLUSTER KEYSLOT {key}"))
    }

    /// Lets replicas take over, waits until another node than this one has the slot, and tells which.
    pub fn await_failover(&self, slot: u16, from: usize) -> usize {
        self.allow_failover(true);
        let node = until_some("another node has the slot", || {
            Some(self.node_of(slot)).filter(|node| *node != from)
        });
        self.await_slots();
        self.allow_failover(false);
        node
    }

    /// Unless it is allowed, no node takes another for failed, however long the machine lets it wait.
    fn allow_failover(&self, allow: bool) {
        let (timeout, no) = if allow {
            (SHORT_TIMEOUT, "no")
        } else {
            (LONG_TIMEOUT, "yes")
        };
        for node in &self.nodes {
            for (setting, value) in [("cluster-node-timeout", timeout), ("cluster-replica-no-failover", no)] {
                // Those that are down forget it, and begin as all did.
                node.answer::<()>(&format!("CONFIG SET {setting} {value}"));
            }
        }
    }

    /// Waits until every node that answers takes commands.
    pub fn await_slots(&self) {
        until("the cluster is up", || {
            let mut states = self
                .nodes
                .iter()
                .filter_map(|node| node.answer::<String>("CLUSTER INFO"));
            states.all(|state| state.contains("cluster_state:ok"))
        });
    }

    /// Waits until so many replicas follow their primaries and have what those have.
    pub fn await_replicas(&self, count: usize) {
        self.await_slots();
        until("the replicas are in sync", || {
            let follows = |node: &&RedisServer| node.tells("replication", "state=online");
            self.nodes.iter().filter(follows).count() == count
        });
    }

    /// Begins to move a slot to another node. How far it gets is up to the test.
    pub fn migrate(&self, slot: u16, to: usize) -> Migration<'_> {
        Migration::begin(self, slot, to)
    }

    fn create(&self) {
        let addresses = self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port()));
        let mut command = Command::new("redis-cli");
        command.args(["--cluster", "create"]).args(addresses);
        let output = command.args(["--cluster-replicas", "1", "--cluster-yes"]).output();
        let output = output.expect("no redis-cli on the PATH: install it (Debian: apt-get install redis-tools)");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        until("all nodes know who has which slot, and who follows whom", || {
            let knows = |view: View| view.is_complete(NODES);
            self.nodes.iter().all(|node| View::of(node).is_some_and(knows))
        });
    }

    /// What all nodes that answer say alike.
    fn agreed<T: PartialEq>(&self, what: &str, look: impl Fn(&View) -> Option<T>) -> T {
        until_some(&format!("all nodes agree {what}"), || {
            let mut said = self.nodes.iter().filter_map(View::of).map(|view| look(&view));
            let first = said.next()??;
            said.all(|other| other.as_ref() == Some(&first)).then_some(first)
        })
    }

    fn node_at(&self, port: u16) -> usize {
        self.nodes.iter().position(|node| node.port() == port).unwrap()
    }
}

fn start_node(port: Port, folder: &Folder) -> RedisServer {
    let path = folder.path().display().to_string();
    let mut settings = vec!["--dir", &path, "--cluster-enabled", "yes"];
    settings.extend([
        "--cluster-node-timeout",
        LONG_TIMEOUT,
        "--cluster-replica-no-failover",
        "yes",
    ]);
    // A replica may take over however long it has been without its primary.
    settings.extend(["--cluster-replica-validity-factor", "0"]);
    // A primary waits five seconds for more replicas to come, by default.
    settings.extend(["--repl-diskless-sync-delay", "0"]);
    RedisServer::start_at(port, &settings)
}
