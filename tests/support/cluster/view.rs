//! What a node knows of the cluster.

use super::super::redis::RedisServer;

/// A line of CLUSTER NODES: a node as another one sees it.
struct Line {
    port: u16,
    is_primary: bool,
    slots: Vec<(u16, u16)>,
}

pub(super) struct View(Vec<Line>);

impl View {
    /// None of a node that was killed or frozen.
    pub(super) fn of(node: &RedisServer) -> Option<Self> {
        let text: String = node.answer("CLUSTER NODES")?;
        Some(Self(text.lines().map(Line::read).collect()))
    }

    /// The ports of the nodes that have slots, in the order of those.
    pub(super) fn primaries(&self) -> Vec<u16> {
        let mut primaries: Vec<_> = self.0.iter().filter(|line| !line.slots.is_empty()).collect();
        primaries.sort_by_key(|line| line.slots[0]);
        primaries.iter().map(|line| line.port).collect()
    }

    /// The port of the node that has this slot.
    pub(super) fn owner(&self, slot: u16) -> Option<u16> {
        let has = |line: &&Line| line.slots.iter().any(|(first, last)| (*first..=*last).contains(&slot));
        self.0.iter().find(has).map(|line| line.port)
    }

    /// All nodes are known, and who of them is a primary.
    pub(super) fn is_complete(&self, nodes: usize) -> bool {
        let primaries = self.0.iter().filter(|line| line.is_primary).count();
        self.0.len() == nodes && primaries == self.primaries().len()
    }
}

impl Line {
    /// `id ip:port@bus flags primary ping pong epoch link slot first-last [slot->-id]`
    fn read(line: &str) -> Self {
        let words: Vec<&str> = line.split(' ').collect();
        let (address, _) = words[1].split_once('@').unwrap();
        let (_, port) = address.rsplit_once(':').unwrap();
        // Slots on their way come last, in brackets, and belong to whom they are on their way from.
        let slots = words[8..].iter().filter(|slots| !slots.starts_with('['));
        let range = |slots: &&str| {
            let (first, last) = slots.split_once('-').unwrap_or((slots, slots));
            (first.parse().unwrap(), last.parse().unwrap())
        };
        Self {
            port: port.parse().unwrap(),
            is_primary: words[2].contains("master"),
            slots: slots.map(range).collect(),
        }
    }
}
