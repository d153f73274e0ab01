//! The slot map of a cluster.

use std::sync::Arc;

use deadpool_redis::redis::{ConnectionAddr, ErrorKind, FromRedisValue, RedisError, Value};

use super::{
    super::{
        server::{Server, Way},
        terms::Terms,
    },
    slot::Slot,
};

/// The known nodes, and the node that serves each slot.
#[derive(Clone)]
pub(super) struct Topology {
    /// The number of the node by slot, from 1; 0 for no node.
    owners: Box<[u16]>,
    pub(super) nodes: Vec<Node>,
}

#[derive(Clone)]
pub(super) struct Node {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) server: Arc<Server>,
}

/// The first and the last slot of a range, and the host and the port of its node.
pub(super) type Range = (u16, u16, String, u16);

impl Topology {
    pub(super) fn empty() -> Self {
        Self {
            owners: vec![0; usize::from(Slot::COUNT)].into(),
            nodes: Vec::new(),
        }
    }

    pub(super) fn owner(&self, slot: Slot) -> Option<&Arc<Server>> {
        let number = usize::from(self.owners[slot.index()]);
        self.nodes.get(number.checked_sub(1)?).map(|node| &node.server)
    }

    pub(super) fn set_owner(&mut self, slot: Slot, number: u16) {
        self.owners[slot.index()] = number;
    }

    /// The number of the node at this address, which is added if it is not known.
    pub(super) fn number(&mut self, host: &str, port: u16, terms: &Terms) -> u16 {
        let is_here = |node: &Node| node.host == host && node.port == port;
        let known = self.nodes.iter().position(is_here);
        let index = known.unwrap_or_else(|| {
            let terms = terms.at(host, port);
            let server = Server::new(&terms.address(), Way::straight(terms.clone()), terms.lanes);
            self.nodes.push(Node {
                host: host.into(),
                port,
                server: Arc::new(server),
            });
            self.nodes.len() - 1
        });
        index as u16 + 1
    }

    /// The number of the node that a redirect names; without a host, it is on the host of the node that replied.
    pub(super) fn number_of(&mut self, to: &str, from: &Arc<Server>, terms: &Terms) -> Option<u16> {
        let (host, port) = to.rsplit_once(':')?;
        let port = port.parse().ok()?;
        let host = match host {
            "" => {
                let is_from = |node: &&Node| Arc::ptr_eq(&node.server, from);
                self.nodes.iter().find(is_from)?.host.clone()
            }
            host => host.to_owned(),
        };
        Some(self.number(&host, port, terms))
    }

    /// The slot map with these ranges. Nodes that still serve slots keep their connections.
    pub(super) fn updated(&self, ranges: &[Range], terms: &Terms) -> Self {
        let is_named = |node: &&Node| {
            ranges
                .iter()
                .any(|(_, _, host, port)| node.host == *host && node.port == *port)
        };
        let mut next = Self::empty();
        next.nodes = self.nodes.iter().filter(is_named).cloned().collect();
        for (first, last, host, port) in ranges {
            let number = next.number(host, *port, terms);
            for slot in *first..=(*last).min(Slot::COUNT - 1) {
                next.set_owner(Slot(slot), number);
            }
        }
        next
    }
}

/// Parses the reply to CLUSTER SLOTS. If a node reports no host, it is on the host that was asked.
pub(super) fn ranges(asked: &Terms, answer: Value) -> Result<Vec<Range>, RedisError> {
    let here = match asked.info.addr() {
        ConnectionAddr::Tcp(host, _) | ConnectionAddr::TcpTls { host, .. } => host.as_str(),
        _ => "",
    };
    let range = |entry: Value| {
        let mut entry = Vec::<Value>::from_redis_value(entry)?.into_iter();
        let mut next = || entry.next().unwrap_or(Value::Nil);
        let (first, last) = (u16::from_redis_value(next())?, u16::from_redis_value(next())?);
        let mut primary = Vec::<Value>::from_redis_value(next())?.into_iter();
        let host = Option::<String>::from_redis_value(primary.next().unwrap_or(Value::Nil))?;
        let port = u16::from_redis_value(primary.next().unwrap_or(Value::Nil))?;
        let host = host.filter(|host| !host.is_empty() && host != "?");
        Ok((first, last, host.unwrap_or_else(|| here.into()), port))
    };
    let entries = Vec::<Value>::from_redis_value(answer)?;
    let ranges = entries.into_iter().map(range).collect::<Result<Vec<_>, RedisError>>()?;
    match ranges.is_empty() {
        // The node has been removed from the cluster, or has not joined it yet.
        true => Err(RedisError::from((ErrorKind::Io, "the node reports no slots"))),
        false => Ok(ranges),
    }
}
