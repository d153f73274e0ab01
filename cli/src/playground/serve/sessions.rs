//! The running sessions: one per open page, each with its own store.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::{mpsc, watch};
use tollgate::{ManualClock, MemoryStore, Store};

use crate::{
    common::{random_id, store::StoreConfig},
    playground::session::{Command, Frame, Session, SessionInfo, Settings},
};

/// Bounds the CPU time of sessions. Enough for a class.
const MAX_SESSIONS: usize = 64;

/// Frames that a slow page may lag behind before its session waits.
const CHANNEL_CAPACITY: usize = 4;

/// Simulated time waits for the store, so that a slow call does not show up as an unchecked request.
const STORE_DEADLINE: Duration = Duration::from_secs(30);

type CommandSenders = HashMap<String, mpsc::Sender<Command>>;

#[derive(Clone)]
pub(crate) struct Sessions {
    store: StoreConfig,
    running: Arc<Mutex<CommandSenders>>,
    shutdown: watch::Sender<bool>,
}

impl Sessions {
    /// Sessions subscribe to `shutdown` while they run.
    pub(crate) fn new(store: StoreConfig, shutdown: watch::Sender<bool>) -> Self {
        let running = Arc::default();
        Self {
            store,
            running,
            shutdown,
        }
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
        let (command_sender, commands) = mpsc::channel(CHANNEL_CAPACITY);
        let (frame_sender, frames) = mpsc::channel(CHANNEL_CAPACITY);
        let mut running = self.running();
        if running.len() >= MAX_SESSIONS {
            return Err(format!(
                "{MAX_SESSIONS} pages are already open: close one and reload this page"
            ));
        }
        running.insert(id.clone(), command_sender);
        drop(running);
        let info = session.info(id.clone(), store_name);
        let (sessions, shutdown) = (self.clone(), self.shutdown.subscribe());
        tokio::spawn(async move {
            session.run(commands, frame_sender, shutdown).await;
            sessions.running().remove(&id);
        });
        Ok((info, frames))
    }

    /// Sends a command to a session. Returns false if it has ended.
    pub(crate) async fn send(&self, id: &str, command: Command) -> bool {
        let sender = self.running().get(id).cloned();
        match sender {
            Some(sender) => sender.send(command).await.is_ok(),
            None => false,
        }
    }

    fn running(&self) -> MutexGuard<'_, CommandSenders> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
