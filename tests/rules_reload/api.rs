//! A server whose limits are rules, with its own store and clock. It records when each request is served.

use std::{ops::Deref, time::Duration};

use axum::Router;
use tollgate::{Key, ManualClock, RuleSet, RulesLayer};

use support::queued_server::QueuedServer;
pub(crate) use support::{
    each_store::{TestStore, on_both_stores},
    queued_server::{MICRO, SECOND},
};

/// A global limit with these settings, which are separated by semicolons.
pub(crate) fn limit(settings: &str) -> String {
    format!("[[limit]]\nkey = 'global'\n{}\n", settings.replace("; ", "\n"))
}

pub(crate) struct Api<St> {
    held: QueuedServer<St>,
    pub(crate) rules: RuleSet,
}

impl<St> Deref for Api<St> {
    type Target = QueuedServer<St>;

    fn deref(&self) -> &QueuedServer<St> {
        &self.held
    }
}

impl<St: TestStore> Api<St> {
    pub(crate) async fn start(rules: &str) -> Self {
        let (store, clock) = St::fresh();
        Self::on(store, clock, rules).await
    }

    pub(crate) async fn on(store: St, clock: ManualClock, rules: &str) -> Self {
        Self::build(store, clock, rules, None).await
    }

    /// Denied requests wait for up to this long.
    pub(crate) async fn start_waiting(rules: &str, max: Duration) -> Self {
        let (store, clock) = St::fresh();
        Self::build(store, clock, rules, Some(max)).await
    }

    async fn build(store: St, clock: ManualClock, rules: &str, wait: Option<Duration>) -> Self {
        let rules = RuleSet::parse(rules).unwrap();
        let layered = |app: Router, store| {
            let layer = RulesLayer::new(rules.clone(), store);
            match wait {
                Some(max) => app.layer(layer.wait(max)),
                None => app.layer(layer),
            }
        };
        let held = QueuedServer::with_store(store, clock, layered).await;
        Self { held, rules }
    }

    /// The status, and what remains in the most restrictive tier.
    pub(crate) async fn status(&self) -> (u16, String) {
        let reply = self.get(0).await;
        (reply.status, reply.remaining())
    }

    pub(crate) fn replace(&self, rules: &str) {
        self.rules.replace(rules).unwrap();
    }

    /// What remains of each current limit in the store.
    pub(crate) async fn left(&self) -> Vec<u64> {
        let mut left = Vec::new();
        for limit in self.rules.limits() {
            left.push(self.store.left(&limit, &Key::GLOBAL).await);
        }
        left
    }
}
