//! A node: a thread with its own runtime and store, which decides about requests one after the other.

use std::{
    io,
    thread::{self, JoinHandle},
};

use tokio::{
    runtime,
    sync::{mpsc, oneshot},
    task::spawn_blocking,
};
use tollgate::{Decision, Key, Limiter, RedisStore};

use super::meter::Meter;

pub(super) struct Node {
    requests: mpsc::UnboundedSender<oneshot::Sender<NodeDecision>>,
    thread: JoinHandle<()>,
    meter: Meter,
}

/// A node's decision about a request.
pub(super) enum NodeDecision {
    /// A lease decided, without a call to Redis.
    ByLease,
    ByRedis(Decision),
    Failed(String),
}

impl Node {
    /// Starts a thread for the limiter of a node, on this store. The metrics of a thread are those of its node.
    pub(super) fn start(limiter: Limiter<RedisStore>, store: RedisStore) -> io::Result<Self> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let (requests, received) = mpsc::unbounded_channel();
        let meter = Meter::default();
        let recorder = meter.clone();
        let thread = thread::Builder::new().name("node".into()).spawn(move || {
            let _recorder = metrics::set_default_local_recorder(&recorder);
            runtime.block_on(decide(limiter, received, &recorder));
            runtime.block_on(store.return_leases());
        })?;
        Ok(Self {
            requests,
            thread,
            meter,
        })
    }

    /// Sends a request to the node.
    pub(super) fn send(&self) -> oneshot::Receiver<NodeDecision> {
        let (sender, receiver) = oneshot::channel();
        // Without its thread, the receiver reports that there is no decision.
        self.requests.send(sender).ok();
        receiver
    }

    pub(super) fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Returns what the node holds, and ends its thread.
    pub(super) async fn close(self) {
        drop(self.requests);
        spawn_blocking(|| self.thread.join()).await.ok();
    }
}

async fn decide(
    limiter: Limiter<RedisStore>,
    mut requests: mpsc::UnboundedReceiver<oneshot::Sender<NodeDecision>>,
    meter: &Meter,
) {
    while let Some(response) = requests.recv().await {
        let local_requests = meter.local_requests();
        let decision = match limiter.check(&Key::GLOBAL).await {
            Ok(_) if meter.local_requests() > local_requests => NodeDecision::ByLease,
            Ok(decision) => NodeDecision::ByRedis(decision),
            Err(error) => NodeDecision::Failed(error.to_string()),
        };
        response.send(decision).ok();
    }
}
