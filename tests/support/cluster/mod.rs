//! A Redis Cluster of three primaries with a replica each.

mod migration;
mod view;

use std::process::Command;

pub use migration::Migration;
use tollgate::{Key, RedisStore, RedisStoreBuilder, redis::Connection};
use view::View;

use super::{
    folder::Folder,
    port::Port,
    redis::{DEADLINE, RedisServer, query},
    wait::{until, until_some},
};

const NODES: usize = 6;
/// The offset of the cluster bus port from the client port.
const BUS_PORT_OFFSET: u16 = 10_000;

/// Milliseconds until an unresponsive node counts as failed.
const LONG_TIMEOUT: &str = "60000";
const SHORT_TIMEOUT: &str = "1500";

pub struct Cluster {
    pub nodes: Vec<RedisServer>,
    _buses: Vec<Port>,
    _folders: Vec<Folder>,
}

impl Cluster {
    /// Returns once every node knows all slots and the replicas are in sync.
    pub fn start() -> Self {
        let (mut nodes, mut buses, mut folders) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..NODES {
            let ([port, bus], folder) = (Port::free_with(BUS_PORT_OFFSET), Folder::new("node"));
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

    /// The nodes that own slots, once all responding nodes agree.
    pub fn primaries(&self) -> Vec<usize> {
        let ports = self.agreed("on the slot owners", |view| Some(view.primaries()));
        ports.into_iter().map(|port| self.node_at(port)).collect()
    }

    /// The owner of this slot, once all responding nodes agree.
    pub fn node_of(&self, slot: u16) -> usize {
        self.node_at(self.agreed("on the owner of the slot", |view| view.owner(slot)))
    }

    /// A plain client of the owner of this slot.
    pub fn client_of(&self, slot: u16) -> Connection {
        self.nodes[self.node_of(slot)].client()
    }

    /// The slot of a key.
    pub fn slot_of(&self, key: &str) -> u16 {
        let running = self.nodes.iter().find(|node| node.is_running()).unwrap();
        query(&mut running.client(), &format!("CLUSTER KEYSLOT {key}"))
    }

    /// A key whose Redis key is on this node.
    pub fn key_on(&self, node: usize, redis_key: impl Fn(&Key) -> String) -> Key {
        let mut keys = (0..).map(|number| Key::named("key", number));
        keys.find(|key| self.node_of(self.slot_of(&redis_key(key))) == node)
            .unwrap()
    }

    /// Allows a failover, waits until another node owns the slot, and returns its index.
    pub fn await_failover(&self, slot: u16, from: usize) -> usize {
        self.allow_failover(true);
        let node = until_some("another node owns the slot", || {
            Some(self.node_of(slot)).filter(|node| *node != from)
        });
        self.await_slots();
        self.allow_failover(false);
        node
    }

    /// Kills the owner of a slot. No replica is promoted, and the other nodes continue to serve their slots.
    pub fn kill_owner(&mut self, slot: u16) {
        let owner = self.node_of(slot);
        for node in &self.nodes {
            let redis = &mut node.client();
            query::<()>(redis, "CONFIG SET cluster-require-full-coverage no");
            query::<()>(redis, "CONFIG SET cluster-replica-no-failover yes");
        }
        self.nodes[owner].kill();
    }

    /// Sets the node timeout. It is long by default, so that a busy machine causes no failover.
    fn allow_failover(&self, allow: bool) {
        let (timeout, no) = if allow {
            (SHORT_TIMEOUT, "no")
        } else {
            (LONG_TIMEOUT, "yes")
        };
        for node in &self.nodes {
            for (setting, value) in [("cluster-node-timeout", timeout), ("cluster-replica-no-failover", no)] {
                // A node that is down starts with the initial settings again.
                node.try_query::<()>(&format!("CONFIG SET {setting} {value}"));
            }
        }
    }

    /// Waits until every responding node accepts commands.
    pub fn await_slots(&self) {
        until("the cluster is up", || {
            let mut states = self
                .nodes
                .iter()
                .filter_map(|node| node.try_query::<String>("CLUSTER INFO"));
            states.all(|state| state.contains("cluster_state:ok"))
        });
    }

    /// Waits until this many replicas are in sync.
    pub fn await_replicas(&self, count: usize) {
        self.await_slots();
        until("the replicas are in sync", || {
            let in_sync = |node: &&RedisServer| node.info_contains("replication", "state=online");
            self.nodes.iter().filter(in_sync).count() == count
        });
    }

    /// Begins to migrate a slot to another node.
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
        until("all nodes know the slots and the replicas", || {
            let is_complete = |view: View| view.is_complete(NODES);
            self.nodes.iter().all(|node| View::of(node).is_some_and(is_complete))
        });
    }

    /// The value on which all responding nodes agree.
    fn agreed<T: PartialEq>(&self, what: &str, look: impl Fn(&View) -> Option<T>) -> T {
        until_some(&format!("all nodes agree {what}"), || {
            let mut values = self.nodes.iter().filter_map(View::of).map(|view| look(&view));
            let first = values.next()??;
            values.all(|other| other.as_ref() == Some(&first)).then_some(first)
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
    // A replica may be promoted regardless of how long it was disconnected from its primary.
    settings.extend(["--cluster-replica-validity-factor", "0"]);
    // By default, a primary waits five seconds for more replicas before a sync.
    settings.extend(["--repl-diskless-sync-delay", "0"]);
    RedisServer::start_at(port, &settings)
}
