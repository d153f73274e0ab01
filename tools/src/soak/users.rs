//! The users that send requests, and the nodes that have their keys.

use crate::{
    limits::{Mode, key},
    support::random::Random,
};

pub(crate) struct Users {
    /// The node that has the key of each user, by mode.
    nodes: Vec<[usize; Mode::ALL.len()]>,
    /// One request in this many is user 0's, besides its share of the others.
    heavy_user_ratio: usize,
}

impl Users {
    /// User 0 sends so many requests that it is denied most of the time. The other users stay below their limits.
    pub(crate) fn new(count: usize, heavy_user_ratio: usize, node_of: impl Fn(&str) -> usize) -> Self {
        let nodes = |user| Mode::ALL.map(|mode| node_of(&key(mode, user)));
        Self {
            nodes: (0..count).map(nodes).collect(),
            heavy_user_ratio,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The layer and the user of the next request.
    pub(crate) fn next(&self, random: &mut Random) -> (Mode, usize) {
        let mode = Mode::ALL[random.index(Mode::ALL.len())];
        let is_other = random.index(self.heavy_user_ratio).min(1);
        (mode, is_other * random.index(self.count()))
    }

    pub(crate) fn node(&self, mode: Mode, user: usize) -> usize {
        self.nodes[user][mode as usize]
    }
}
