//! The playground as a program: on a port of its own, where it can be killed and started again.

use std::process::Command;

use support::{port::Port, process::Process, project, redis::RedisServer};

pub(crate) fn program() -> Command {
    project::tollgate("playground")
}

/// Where the limits of a playground count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Memory,
    /// A server of its own.
    Redis,
}

impl Place {
    pub(crate) const BOTH: [Self; 2] = [Self::Memory, Self::Redis];
}

/// A playground that serves, and ends with its owner.
pub(crate) struct Playground {
    process: Option<Process>,
    port: Port,
    pub(crate) redis: Option<RedisServer>,
}

impl Playground {
    pub(crate) fn start(place: Place) -> Self {
        let mut playground = Self {
            process: None,
            port: Port::free(),
            redis: (place == Place::Redis).then(RedisServer::start),
        };
        playground.restart();
        playground
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port.number())
    }

    /// Ends it at once. Nobody else gets its port.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    /// Starts it again, at the same port. It has forgotten everything.
    pub(crate) fn restart(&mut self) {
        self.kill();
        let store = self.redis.as_ref().map_or("memory".into(), RedisServer::url);
        let command = [
            project::program_path("tollgate").display().to_string(),
            "playground".to_owned(),
            format!("--listen={}", self.port.number()),
            format!("--store={store}"),
        ];
        self.process = Some(Process::start(&command, &["playground: open"]));
    }
}
