//! A Redis Cluster of three primaries, each of which announces the port of its proxy to clients.
//!
//! The cluster never declares a node as failed, so a node that is unavailable keeps its slots.

use std::{thread, time::Duration};

use crate::{
    node::Node,
    support::{folder::Folder, port::Port, proxy::Proxy, redis::query},
};

pub(crate) const NODES: usize = 3;
const SLOTS: usize = 16_384;

/// The offset of the cluster bus port from the client port.
const BUS_PORT_OFFSET: u16 = 10_000;

/// Milliseconds until an unresponsive node would be declared as failed.
const NODE_TIMEOUT: &str = "600000";

/// Returns once every node accepts commands.
pub(crate) fn start() -> Vec<Node> {
    let nodes: Vec<_> = (0..NODES).map(|_| start_node()).collect();
    for (index, node) in nodes.iter().enumerate() {
        let redis = &mut node.server.client();
        let last_slot = first_slot(index + 1) - 1;
        query::<()>(
            redis,
            &format!("CLUSTER ADDSLOTSRANGE {} {last_slot}", first_slot(index)),
        );
        // Equal epochs would have to be resolved between the nodes first.
        query::<()>(redis, &format!("CLUSTER SET-CONFIG-EPOCH {}", index + 1));
        for other in &nodes[..index] {
            query::<()>(redis, &format!("CLUSTER MEET 127.0.0.1 {}", other.server.port()));
        }
    }
    nodes.iter().for_each(await_ready);
    nodes
}

/// Waits until a node knows the others and accepts commands. A node that was restarted waits two seconds before.
pub(crate) fn await_ready(node: &Node) {
    let is_ready =
        |info: String| info.contains("cluster_state:ok") && info.contains(&format!("cluster_known_nodes:{NODES}"));
    while !node.server.try_query("CLUSTER INFO").is_some_and(is_ready) {
        thread::sleep(Duration::from_millis(5));
    }
}

/// The index of the node that has a key, as any node computes it.
pub(crate) fn node_of(any: &Node, key: &str) -> usize {
    let slot: usize = query(&mut any.server.client(), &format!("CLUSTER KEYSLOT {key}"));
    let owner = (0..NODES).rposition(|node| first_slot(node) <= slot);
    owner.expect("the first node has slot 0")
}

fn first_slot(node: usize) -> usize {
    node * SLOTS / NODES
}

fn start_node() -> Node {
    let ([port, bus], folder) = (Port::free_with(BUS_PORT_OFFSET), Folder::short("soak"));
    let proxy = Proxy::to(port.number());
    let (path, announced) = (folder.path().display().to_string(), proxy.port().to_string());
    let mut settings = vec!["--dir", &path, "--cluster-enabled", "yes"];
    settings.extend(["--cluster-announce-port", &announced]);
    settings.extend(["--cluster-node-timeout", NODE_TIMEOUT]);
    Node::start(port, proxy, &settings, Some((bus, folder)))
}
