//! A service that records its requests, and gateways between it and a Redis.

use std::{
    fs,
    sync::{Arc, Mutex},
};

use axum::{
    Router,
    extract::State,
    http::{Method, Uri},
};

use support::{http::Server, redis::RedisServer};

use crate::gateway::fixture::Gateway;

/// Request lines, like `GET /path`.
type Lines = Arc<Mutex<Vec<String>>>;

/// Answers every request with 200 and its request line.
pub(crate) struct Service {
    server: Server,
    lines: Lines,
}

impl Service {
    pub(crate) async fn start() -> Self {
        let lines = Lines::default();
        let app = Router::new().fallback(receive).with_state(Arc::clone(&lines));
        let server = Server::start(app).await;
        Self { server, lines }
    }

    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    /// The requests so far, in order of arrival.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

async fn receive(State(lines): State<Lines>, method: Method, target: Uri) -> String {
    let line = format!("{method} {target}");
    lines.lock().unwrap().push(line.clone());
    line
}

impl Gateway {
    /// In front of this service, counting on this Redis, with a store timeout that a busy machine does not exceed.
    pub(crate) fn with_redis(service: &Service, redis: &RedisServer, rules: &str, options: &[&str]) -> Self {
        let store = ["--store", &redis.url(), "--store-timeout", "30s"];
        Self::with_upstream(&service.url(), rules, &[&store, options].concat())
    }

    /// Replaces the rules file atomically.
    pub(crate) fn replace_rules(&self, rules: &str) {
        let new = format!("{}.new", self.rules());
        fs::write(&new, rules).unwrap();
        fs::rename(&new, self.rules()).unwrap();
    }
}
