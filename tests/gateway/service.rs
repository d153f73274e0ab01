//! A service that remembers what reached it, and gateways between it and a Redis.

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

/// The first lines of requests, like `GET /path`.
type Lines = Arc<Mutex<Vec<String>>>;

/// Answers whatever it is asked with 200 and the first line of the request.
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

    /// All that it has received so far, in the order in which it came.
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
    /// Between this service and this Redis. The machine may be busy, and hardly a test is about how long that may take.
    pub(crate) fn between(service: &Service, redis: &RedisServer, rules: &str, options: &[&str]) -> Self {
        let store = ["--store", &redis.url(), "--store-timeout", "30s"];
        Self::to(&service.url(), rules, &[&store, options].concat())
    }

    /// Puts another rules file in place of its own, all at once.
    pub(crate) fn change(&self, rules: &str) {
        let new = format!("{}.new", self.rules());
        fs::write(&new, rules).unwrap();
        fs::rename(&new, self.rules()).unwrap();
    }
}
