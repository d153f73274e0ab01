//! A slot migration that the test performs step by step.

use tollgate::redis::{Connection, cmd};

use super::{super::redis::query, Cluster};

/// A slot migration in progress. The source redirects requests for missing keys to the target (ASK), and a request for several
/// keys of which only some have moved fails on both nodes (TRYAGAIN).
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
        // The target is set first: otherwise it would redirect clients back to the source.
        migration.set_slot(to, "IMPORTING", from);
        migration.set_slot(from, "MIGRATING", to);
        migration
    }

    /// The keys that are still on the source.
    pub fn keys(&self) -> Vec<String> {
        query(
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

    /// Moves the remaining keys and assigns the slot to the target on every primary.
    pub fn finish(self) {
        self.keys().iter().for_each(|key| self.move_key(key));
        // The target is set first, so that the slot has an owner at every moment.
        let others = self.cluster.primaries().into_iter().filter(|node| *node != self.to);
        for node in [self.to].into_iter().chain(others) {
            self.set_slot(node, "NODE", self.to);
        }
        assert_eq!(self.cluster.node_of(self.slot), self.to);
    }

    fn set_slot(&self, at: usize, state: &str, node: usize) {
        let id: String = query(&mut self.client(node), "CLUSTER MYID");
        let command = format!("CLUSTER SETSLOT {} {state} {id}", self.slot);
        query::<()>(&mut self.client(at), &command);
    }

    fn source(&self) -> Connection {
        self.client(self.from)
    }

    fn client(&self, node: usize) -> Connection {
        self.cluster.nodes[node].client()
    }
}
