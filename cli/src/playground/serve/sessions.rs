//! Starts sessions: one per open page, each with its own store.

use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tollgate::{ManualClock, MemoryStore, Store};

use super::running::Running;
use crate::{
    common::{random_id, store::StoreConfig},
    playground::{
        nodes::{NodeAction, NodesFrame, NodesInfo, NodesSession, NodesSettings},
        session::{Command, Frame, Session, SessionInfo, Settings},
    },
};

/// Bounds the CPU time of sessions. Enough for a class.
const MAX_SESSIONS: usize = 64;

/// Bounds the threads and connections of nodes: four of each per page.
const MAX_NODES_SESSIONS: usize = 16;

/// Frames that a slow page may lag behind before its session waits.
const CHANNEL_CAPACITY: usize = 4;

/// Simulated time waits for the store, so that a slow call does not show up as an unchecked request.
const STORE_DEADLINE: Duration = Duration::from_secs(30);

/// The deadline of nodes, in real time: longer than by default, because a decision on a busy laptop shows the same as on an idle one.
const NODE_DEADLINE: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct Sessions {
    store: StoreConfig,
    pub(super) lanes: Running<Command>,
    pub(super) nodes: Running<NodeAction>,
    shutdown: watch::Sender<bool>,
}

impl Sessions {
    /// Sessions subscribe to `shutdown` while they run.
    pub(crate) fn new(store: StoreConfig, shutdown: watch::Sender<bool>) -> Self {
        Self {
            store,
            lanes: Running::new(MAX_SESSIONS),
            nodes: Running::new(MAX_NODES_SESSIONS),
            shutdown,
        }
    }

    /// Whether there is a Redis, which leases need.
    pub(super) fn has_redis(&self) -> bool {
        matches!(self.store, StoreConfig::Redis(_))
    }

    /// Starts a session that runs until the receiver of its frames is dropped.
    pub(crate) fn start(&self, settings: Settings) -> Result<(SessionInfo, mpsc::Receiver<Frame>), String> {
        let id = random_id();
        let clock = ManualClock::at(0);
        match &self.store {
            StoreConfig::Memory => {
                let store = MemoryStore::builder().clock(clock.clone()).build();
                self.start_on(&store, "memory", clock, id, settings)
            }
            StoreConfig::Redis(redis) => {
                let store = redis
                    .builder()
                    .prefix(redis.sub_prefix(&format!("playground:{id}")))
                    .pool_size(1)
                    .deadline(STORE_DEADLINE);
                let store = store.clock(clock.clone()).build().map_err(|error| error.to_string())?;
                self.start_on(&store, "redis", clock, id, settings)
            }
        }
    }

    fn start_on<St: Store>(
        &self,
        store: &St,
        store_name: &'static str,
        clock: ManualClock,
        id: String,
        settings: Settings,
    ) -> Result<(SessionInfo, mpsc::Receiver<Frame>), String> {
        let session = Session::new(settings, store, clock).map_err(|error| error.to_string())?;
        let commands = self.lanes.add(&id)?;
        let (frame_sender, frames) = mpsc::channel(CHANNEL_CAPACITY);
        let info = session.info(id.clone(), store_name);
        let (running, shutdown) = (self.lanes.clone(), self.shutdown.subscribe());
        tokio::spawn(async move {
            session.run(commands, frame_sender, shutdown).await;
            running.remove(&id);
        });
        Ok((info, frames))
    }

    /// Starts two nodes, which run until the receiver of their frames is dropped.
    pub(super) fn start_nodes(
        &self,
        settings: NodesSettings,
    ) -> Result<(NodesInfo, mpsc::Receiver<NodesFrame>), String> {
        let StoreConfig::Redis(redis) = &self.store else {
            return Err("nodes share a limit through Redis, and this playground has none".into());
        };
        let id = random_id();
        // The place is taken before the threads start.
        let commands = self.nodes.add(&id)?;
        let prefix = redis.sub_prefix(&format!("playground:{id}"));
        let builder = || {
            let store = redis.builder().prefix(prefix.clone());
            store.pool_size(1).deadline(NODE_DEADLINE)
        };
        let session = NodesSession::new(settings, builder).inspect_err(|_| self.nodes.remove(&id))?;
        let (frame_sender, frames) = mpsc::channel(CHANNEL_CAPACITY);
        let info = session.info(id.clone());
        let (running, shutdown) = (self.nodes.clone(), self.shutdown.subscribe());
        tokio::spawn(async move {
            session.run(commands, frame_sender, shutdown).await;
            running.remove(&id);
        });
        Ok((info, frames))
    }
}
