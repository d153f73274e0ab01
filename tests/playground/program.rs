//! The playground's process on a reserved port, where it can be killed and restarted.

use std::process::Command;

use support::{port::Port, process::Process, project, redis::RedisServer};

pub(crate) fn program() -> Command {
    project::tollgate("playground")
}

/// The store of a playground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreKind {
    Memory,
    /// A new Redis server.
    Redis,
}

impl StoreKind {
    pub(crate) const BOTH: [Self; 2] = [Self::Memory, Self::Redis];
}

/// A running playground, killed on drop.
pub(crate) struct Playground {
    process: Option<Process>,
    port: Port,
    pub(crate) redis: Option<RedisServer>,
    store: String,
}

impl Playground {
    pub(crate) fn start(kind: StoreKind) -> Self {
        let redis = (kind == StoreKind::Redis).then(RedisServer::start);
        let store = redis.as_ref().map_or("memory".into(), RedisServer::url);
        Self::with_store(store, redis)
    }

    /// On a Redis that the test has started.
    pub(crate) fn on(store: &str) -> Self {
        Self::with_store(store.to_owned(), None)
    }

    fn with_store(store: String, redis: Option<RedisServer>) -> Self {
        let mut playground = Self {
            process: None,
            port: Port::free(),
            redis,
            store,
        };
        playground.restart();
        playground
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port.number())
    }

    /// Kills it, and keeps its port reserved.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    /// Restarts it at the same port, without its state.
    pub(crate) fn restart(&mut self) {
        self.kill();
        let command = [
            project::program_path("tollgate").display().to_string(),
            "playground".to_owned(),
            format!("--listen={}", self.port.number()),
            format!("--store={}", self.store),
        ];
        self.process = Some(Process::start(&command, &["playground: open"]));
    }
}
