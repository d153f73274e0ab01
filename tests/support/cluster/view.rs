//! CLUSTER NODES as one node reports it.

use super::super::redis::RedisServer;

/// A line of CLUSTER NODES.
struct Line {
    port: u16,
    is_primary: bool,
    slots: Vec<(u16, u16)>,
}

pub(super) struct View(Vec<Line>);

impl View {
    /// The view of a node, or none if it was killed or frozen.
    pub(super) fn of(node: &RedisServer) -> Option<Self> {
        let text: String = node.try_query("CLUSTER NODES")?;
        Some(Self(text.lines().map(Line::parse).collect()))
    }

    /// The ports of the nodes that own slots, in slot order.
    pub(super) fn primaries(&self) -> Vec<u16> {
        let mut primaries: Vec<_> = self.0.iter().filter(|line| !line.slots.is_empty()).collect();
        primaries.sort_by_key(|line| line.slots[0]);
        primaries.iter().map(|line| line.port).collect()
    }

    /// The port of the slot's owner.
    pub(super) fn owner(&self, slot: u16) -> Option<u16> {
        let has = |line: &&Line| line.slots.iter().any(|(first, last)| (*first..=*last).contains(&slot));
        self.0.iter().find(has).map(|line| line.port)
    }

    /// Whether all nodes are known and every primary owns slots.
    pub(super) fn is_complete(&self, nodes: usize) -> bool {
        let primaries = self.0.iter().filter(|line| line.is_primary).count();
        self.0.len() == nodes && primaries == self.primaries().len()
    }
}

impl Line {
    /// `id ip:port@bus flags primary ping pong epoch link slot first-last [slot->-id]`
    fn parse(line: &str) -> Self {
        let fields: Vec<&str> = line.split(' ').collect();
        let (address, _) = fields[1].split_once('@').unwrap();
        let (_, port) = address.rsplit_once(':').unwrap();
        // Migrating slots are listed last, in brackets. The source owns them, and its ranges contain them.
        let slots = fields[8..].iter().filter(|slots| !slots.starts_with('['));
        let range = |slots: &&str| {
            let (first, last) = slots.split_once('-').unwrap_or((slots, slots));
            (first.parse().unwrap(), last.parse().unwrap())
        };
        Self {
            port: port.parse().unwrap(),
            is_primary: fields[2].contains("master"),
            slots: slots.map(range).collect(),
        }
    }
}
