//! A server whose limits are rules, on a store and a clock of its own, and who was served when.

use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Router, extract::Path, routing::get};
use tokio::task::JoinHandle;
use tollgate::{Key, ManualClock, Micros, RateLimitLayer, RuleSet};

pub(crate) use crate::support::each_store::{TestStore, on_both_stores};
use crate::support::{
    each_store::NOW,
    http::{Reply, Server},
    patience::yielding,
};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const MICRO: Duration = Duration::from_micros(1);

/// A limit for everybody together, by its settings with a semicolon after each.
pub(crate) fn limit(settings: &str) -> String {
    format!("[[limit]]\nkey = 'global'\n{}\n", settings.replace("; ", "\n"))
}

/// Who has been served, and how many microseconds after the start.
type Served = Arc<Mutex<Vec<(u32, Micros)>>>;

pub(crate) struct Api<St> {
    server: Server,
    pub(crate) store: St,
    pub(crate) clock: ManualClock,
    pub(crate) rules: RuleSet,
    served: Served,
}

impl<St: TestStore> Api<St> {
    pub(crate) async fn start(rules: &str) -> Self {
        let (store, clock) = St::fresh();
        Self::on(store, clock, rules).await
    }

    pub(crate) async fn on(store: St, clock: ManualClock, rules: &str) -> Self {
        Self::build(store, clock, rules, None).await
    }

    /// Who is refused waits for so long.
    pub(crate) async fn start_waiting(rules: &str, max: Duration) -> Self {
        let (store, clock) = St::fresh();
        Self::build(store, clock, rules, Some(max)).await
    }

    async fn build(store: St, clock: ManualClock, rules: &str, wait: Option<Duration>) -> Self {
        let (served, rules) = (Served::default(), RuleSet::parse(rules).unwrap());
        let handler = {
            let (clock, served) = (clock.clone(), served.clone());
            async move |Path(request): Path<u32>| served.lock().unwrap().push((request, clock.now() - NOW))
        };
        let layer = RateLimitLayer::rules(rules.clone(), store.clone());
        let layer = match wait {
            Some(max) => layer.wait(max),
            None => layer,
        };
        let app = Router::new().route("/{request}", get(handler)).layer(layer);
        Self {
            server: Server::start(app).await,
            store,
            clock,
            rules,
            served,
        }
    }

    pub(crate) fn get(&self, request: u32) -> impl Future<Output = Reply> + Send + use<St> {
        self.server.get(&format!("/{request}"))
    }

    /// The status, and what is left of the tightest tier.
    pub(crate) async fn status(&self) -> (u16, String) {
        let reply = self.get(0).await;
        (reply.status, reply.remaining())
    }

    /// Sends a request that has to wait, and waits until it does.
    pub(crate) async fn wait(&self, request: u32) -> JoinHandle<Reply> {
        let before = self.clock.waiting();
        let waiting = tokio::spawn(self.get(request));
        yielding(async || self.clock.waiting() == before + 1).await;
        waiting
    }

    pub(crate) fn replace(&self, rules: &str) {
        self.rules.replace(rules).unwrap();
    }

    /// What is left of each limit in force, by the word of the store.
    pub(crate) async fn left(&self) -> Vec<u64> {
        let mut left = Vec::new();
        for limit in self.rules.limits() {
            left.push(self.store.left(&limit, &Key::GLOBAL).await);
        }
        left
    }

    pub(crate) fn served(&self) -> Vec<(u32, Micros)> {
        self.served.lock().unwrap().clone()
    }
}
