//! The nodes, and how each fault is injected and repaired.

use std::{
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tollgate::{
    Micros,
    redis::{Connection, cmd},
};

use crate::{
    cluster,
    faults::Fault,
    limits::{CONNECTIONS_PER_NODE, Mode, USERS, key},
    node::Node,
    support::{proxy::Direction, random::Random, redis::query},
};

/// The latency of a slow Redis, as in the fault's name: longer than the deadline.
const SLOW_DELAY: Duration = Duration::from_millis(200);

/// How often an instantaneous fault is repeated.
const REPEAT_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) struct FaultInjector {
    pub(crate) nodes: Vec<Node>,
    pub(crate) state_losses: Vec<StateLoss>,
}

/// A fault that erased counts in Redis, so that their windows start over.
pub(crate) struct StateLoss {
    pub(crate) of: Lost,
    /// The earliest and the latest possible time.
    pub(crate) between: (Micros, Micros),
}

/// Whose counts were erased.
pub(crate) enum Lost {
    /// Those of all users whose keys are on this node.
    Node(usize),
    User(Mode, usize),
}

impl FaultInjector {
    pub(crate) fn new(nodes: Vec<Node>) -> Self {
        let state_losses = Vec::new();
        Self { nodes, state_losses }
    }

    /// The number of connections to all nodes, the pingers' included.
    pub(crate) fn connections(&self) -> usize {
        self.nodes.iter().map(Node::connections).sum()
    }

    /// The number of connections while each process has used each node.
    pub(crate) fn max_connections(&self) -> usize {
        self.nodes.len() * CONNECTIONS_PER_NODE
    }

    /// The number of keys, and the keys without a time-to-live.
    pub(crate) fn keys(&self) -> (usize, Vec<String>) {
        let (counts, persistent): (Vec<_>, Vec<_>) = self.nodes.iter().map(Node::keys).unzip();
        (counts.into_iter().sum(), persistent.concat())
    }

    /// Injects a fault of a node, and returns as soon as it has been repaired.
    pub(crate) fn inject(&mut self, fault: Fault, index: usize, duration: Duration, mut random: Random) {
        let node = &mut self.nodes[index];
        match fault {
            Fault::Killed => self.kill(index, duration),
            Fault::Frozen => {
                node.server.freeze();
                thread::sleep(duration);
                node.server.thaw();
            }
            Fault::Flushed => node.repeat_command("SCRIPT FLUSH", duration),
            Fault::ReadOnly => node.set_and_reset("REPLICAOF 127.0.0.1 1", duration, "REPLICAOF NO ONE"),
            Fault::OutOfMemory => node.set_and_reset("CONFIG SET maxmemory 1", duration, "CONFIG SET maxmemory 0"),
            Fault::Busy => node.keep_busy(duration),
            Fault::Slow => {
                node.proxy.delay(Direction::ToClient, SLOW_DELAY);
                thread::sleep(duration);
                node.proxy.heal();
            }
            Fault::Cut => {
                repeat(duration, || node.proxy.cut_after(1 + random.index(30)));
                node.proxy.heal();
            }
            Fault::Silent => {
                node.proxy.blackhole();
                thread::sleep(duration);
                node.proxy.heal();
            }
            Fault::Disconnected => node.repeat_command("CLIENT KILL TYPE normal", duration),
            Fault::Garbage => {
                let mut redis = node.server.client();
                repeat(duration, || self.write_garbage(&mut redis, &mut random));
            }
            Fault::Forbidden => {
                node.set_and_reset("ACL SETUSER default -evalsha", duration, "ACL SETUSER default +evalsha");
            }
            Fault::Latency { round_trip, .. } => {
                for direction in [Direction::ToServer, Direction::ToClient] {
                    node.proxy.delay(direction, round_trip / 2);
                }
                thread::sleep(duration);
            }
        }
    }

    fn kill(&mut self, index: usize, duration: Duration) {
        let is_cluster = self.nodes.len() > 1;
        let node = &mut self.nodes[index];
        let before = now();
        node.server.kill();
        let between = (before, now());
        let of = Lost::Node(index);
        self.state_losses.push(StateLoss { of, between });
        thread::sleep(duration);
        node.server.restart();
        if is_cluster {
            cluster::await_ready(node);
        }
    }

    /// Overwrites a random limit's key with a value that is no state.
    fn write_garbage(&mut self, redis: &mut Connection, random: &mut Random) {
        let (mode, user) = (Mode::ALL[random.index(Mode::ALL.len())], random.index(USERS));
        let key = key(mode, user);
        let before = now();
        match random.index(3) {
            0 => query::<()>(redis, &format!("SET {key} garbage")),
            1 => query::<()>(redis, &format!("SET {key} 20")),
            // RPUSH fails on a key of another type; RENAME replaces any.
            _ => {
                query::<()>(redis, "RPUSH planted garbage");
                query::<()>(redis, &format!("RENAME planted {key}"));
            }
        }
        let between = (before, now());
        let of = Lost::User(mode, user);
        self.state_losses.push(StateLoss { of, between });
    }
}

impl Node {
    fn set_and_reset(&self, set: &str, duration: Duration, reset: &str) {
        let redis = &mut self.server.client();
        query::<()>(redis, set);
        thread::sleep(duration);
        query::<()>(redis, reset);
    }

    fn repeat_command(&self, command: &str, duration: Duration) {
        let redis = &mut self.server.client();
        repeat(duration, || query::<()>(redis, command));
    }

    fn keep_busy(&self, duration: Duration) {
        let redis = &mut self.server.client();
        query::<()>(redis, "CONFIG SET busy-reply-threshold 50");
        let mut other = self.server.client();
        let busy = thread::spawn(move || cmd("EVAL").arg("while true do end").arg(0).query::<()>(&mut other));
        thread::sleep(duration);
        while cmd("SCRIPT").arg("KILL").query::<()>(redis).is_err() {
            thread::sleep(Duration::from_millis(1));
        }
        busy.join()
            .expect("the thread did not panic")
            .expect_err("the script was killed");
    }
}

/// Calls `act` at intervals, the last time at the end of `duration`.
fn repeat(duration: Duration, mut act: impl FnMut()) {
    let end = Instant::now() + duration;
    while Instant::now() < end {
        thread::sleep(REPEAT_INTERVAL);
        act();
    }
}

/// The time by the clock that Redis uses.
fn now() -> Micros {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_micros() as Micros
}
