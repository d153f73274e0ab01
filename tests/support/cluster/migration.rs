//! A slot on its way from one node to another, as far as a test has taken it.

use tollgate::redis::{Connection, cmd};

use super::{super::redis::ask, Cluster};

/// Until it is finished, a key that is not there any more or not there yet is asked for at the other node (ASK), and
/// keys of which some are there and some are not can be asked for at neither (TRYAGAIN).
pub struct Migration<'a> {
    cluster: &'a Cluster,
    slot: u16,
    from: usize,
    to: usize,
}

impl<'a> Migration<'a> {
    pub(super) fn begin(cluster: &'a Cluster, slot: u16, to: usize) -> Self {
        let from = cluster.node_of(slot);
        let migration = Self {
            cluster,
            slot,
            from,
            to,
        };
        // The one that takes it is told first, or it would send whoever comes back to the other one.
        migration.set_slot(to, "IMPORTING", from);
        migration.set_slot(from, "MIGRATING", to);
        migration
    }

    /// The keys that have not been moved yet.
    pub fn keys(&self) -> Vec<String> {
        ask(
            &mut self.source(),
            &format!("CLUSTER GETKEYSINSLOT {} 1000000", self.slot),
        )
    }

    pub fn move_key(&self, key: &str) {
        let mut command = cmd("MIGRATE");
        command.arg("127.0.0.1").arg(self.cluster.nodes[self.to].port());
        command.arg(key).arg(0).arg(60_000);
        let moved: String = command.query(&mut self.source()).unwrap();
        assert_eq!(moved, "OK", "{key}");
    }

    /// Moves whatever is left, and tells everybody where the slot is now.
    pub fn finish(self) {
        self.keys().iter().for_each(|key| self.move_key(key));
        // The one that has it now is told first, so that there is nobody to lose it if the others never are.
        let others = self.cluster.primaries().into_iter().filter(|node| *node != self.to);
        for node in [self.to].into_iter().chain(others) {
            self.set_slot(node, "NODE", self.to);
        }
        assert_eq!(self.cluster.node_of(self.slot), self.to);
    }

    fn set_slot(&self, at: usize, what: &str, node: usize) {
        let id: String = ask(&mut self.client(node), "CLUSTER MYID");
        let command = format!("CLUSTER SETSLOT {} {what} {id}", self.slot);
        ask::<()>(&mut self.client(at), &command);
    }

    fn source(&self) -> Connection {
        self.client(self.from)
    }

    fn client(&self, node: usize) -> Connection {
        self.cluster.nodes[node].client()
    }
}
