//! Slots, and the slot map: which node serves which slot.

use std::sync::Arc;

use deadpool_redis::redis::{ConnectionAddr, ErrorKind, FromRedisValue, RedisError, Value};

use super::node::Node;
use crate::store::redis::connection::ConnectionConfig;

/// One of 16,384 slots, which are distributed over the primaries of a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot(u16);

impl Slot {
    const COUNT: u16 = 16_384;

    /// The slot of every key without a cluster.
    pub(crate) const ONLY: Self = Self(0);

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    /// The slot by the checksum of the key, or of its hash tag: the part between its first braces, if that is not empty.
    pub(crate) fn of(key: &str) -> Self {
        let braced = key.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
        let hashed = match braced {
            Some((tag, _)) if !tag.is_empty() => tag,
            _ => key,
        };
        Self(crc16(hashed.as_bytes()) % Self::COUNT)
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// CRC-16/XMODEM: polynomial 0x1021, initial value 0.
fn crc16(bytes: &[u8]) -> u16 {
    let shift = |crc: u16| {
        if crc & 0x8000 == 0 {
            crc << 1
        } else {
            (crc << 1) ^ 0x1021
        }
    };
    bytes.iter().fold(0, |crc, &byte| {
        (0..8).fold(crc ^ (u16::from(byte) << 8), |crc, _| shift(crc))
    })
}

/// The known nodes, and the node that serves each slot. A standalone Redis is one node that serves all slots.
#[derive(Clone)]
pub(super) struct SlotMap {
    /// The number of the node by slot, from 1; 0 for no node.
    owners: Box<[u16]>,
    pub(super) nodes: Vec<KnownNode>,
}

#[derive(Clone)]
pub(super) struct KnownNode {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) node: Arc<Node>,
}

/// The host of a node that does not know its own.
const UNKNOWN_HOST: &str = "?";

/// The first and the last slot of a range, and the host and the port of its node.
pub(super) type Range = (u16, u16, String, u16);

impl SlotMap {
    pub(super) fn empty() -> Self {
        Self {
            owners: vec![0; usize::from(Slot::COUNT)].into(),
            nodes: Vec::new(),
        }
    }

    /// One node that serves the only slot.
    pub(super) fn standalone(node: Arc<Node>) -> Self {
        let (host, port) = (String::new(), 0);
        Self {
            owners: [1].into(),
            nodes: vec![KnownNode { host, port, node }],
        }
    }

    pub(super) fn owner(&self, slot: Slot) -> Option<&Arc<Node>> {
        let number = usize::from(self.owners[slot.index()]);
        self.nodes.get(number.checked_sub(1)?).map(|known| &known.node)
    }

    pub(super) fn set_owner(&mut self, slot: Slot, number: u16) {
        self.owners[slot.index()] = number;
    }

    /// The number of the node at this address, which is added if it is not known.
    fn number(&mut self, host: &str, port: u16, new_node: impl Fn(&str, u16) -> Arc<Node>) -> u16 {
        let is_here = |known: &KnownNode| known.host == host && known.port == port;
        let known = self.nodes.iter().position(is_here);
        let index = known.unwrap_or_else(|| {
            self.nodes.push(KnownNode {
                host: host.into(),
                port,
                node: new_node(host, port),
            });
            self.nodes.len() - 1
        });
        index as u16 + 1
    }

    /// The number of the node that a redirect names.
    pub(super) fn redirect_target(
        &mut self,
        to: &str,
        from: &Arc<Node>,
        new_node: impl Fn(&str, u16) -> Arc<Node>,
    ) -> Option<u16> {
        let from = self.nodes.iter().find(|known| Arc::ptr_eq(&known.node, from));
        let from = from.map(|known| known.host.clone());
        let (host, port) = redirect_address(to, from.as_deref())?;
        Some(self.number(host, port, new_node))
    }

    /// The slot map with these ranges. Nodes that still serve slots keep their connections.
    pub(super) fn updated(&self, ranges: &[Range], new_node: impl Fn(&str, u16) -> Arc<Node>) -> Self {
        let is_named = |known: &&KnownNode| {
            ranges
                .iter()
                .any(|(_, _, host, port)| known.host == *host && known.port == *port)
        };
        let mut next = Self::empty();
        next.nodes = self.nodes.iter().filter(is_named).cloned().collect();
        for (first, last, host, port) in ranges {
            let number = next.number(host, *port, &new_node);
            for slot in *first..=(*last).min(Slot::COUNT - 1) {
                next.set_owner(Slot(slot), number);
            }
        }
        next
    }
}

/// The host and the port that a redirect names. Without a host, it is that of the node that replied.
fn redirect_address<'a>(to: &'a str, from: Option<&'a str>) -> Option<(&'a str, u16)> {
    let (host, port) = to.rsplit_once(':')?;
    let host = match host {
        "" | UNKNOWN_HOST => from?,
        host => host,
    };
    Some((host, port.parse().ok()?))
}

/// Parses the reply to CLUSTER SLOTS. If a node reports no host, it is on the host that was asked.
pub(super) fn parse_ranges(asked: &ConnectionConfig, answer: Value) -> Result<Vec<Range>, RedisError> {
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
        let host = host.filter(|host| !host.is_empty() && host != UNKNOWN_HOST);
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

#[cfg(test)]
mod tests;
