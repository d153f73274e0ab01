//! A service process with a rules file, and a client that asks it like a proxy.

use std::{
    net::SocketAddr,
    ops::Deref,
    process::{Command, ExitStatus},
};

use axum::http::Method;
use reqwest::RequestBuilder;

use support::{http::Reply, redis::RedisServer};

use crate::server_process::{ServerProcess, socket::Socket, subcommand};

/// A limit in a window that neither ends nor refills while a test runs; `more` has its key.
pub(crate) fn limit(name: &str, limit: usize, more: &str) -> String {
    format!("[[limit]]\nname = '{name}'\nalgorithm = 'fixed_window'\nlimit = {limit}\nwindow = '3650d'\n{more}\n")
}

/// The client of the tests is a trusted proxy.
pub(crate) const TRUSTED: &str = "[trust]\nproxies = ['127.0.0.1']\n";

pub(crate) fn program() -> Command {
    subcommand("service")
}

/// A service with an HTTP address only, at free ports.
pub(crate) struct LimitService {
    server: ServerProcess,
    pub(crate) http: SocketAddr,
}

impl Deref for LimitService {
    type Target = ServerProcess;

    fn deref(&self) -> &ServerProcess {
        &self.server
    }
}

impl LimitService {
    pub(crate) fn start(rules: &str, options: &[&str]) -> Self {
        let server = ServerProcess::start(program().args(["--http", "127.0.0.1:0"]), rules, options);
        let http = server.running.address("http      http://");
        Self { server, http }
    }

    /// Counting on this Redis, with a store timeout that a busy machine does not exceed.
    pub(crate) fn with_redis(redis: &RedisServer, rules: &str, options: &[&str]) -> Self {
        let store = ["--store", &redis.url(), "--store-timeout", "30s"];
        Self::start(rules, &[&store, options].concat())
    }

    pub(crate) fn wait_for_exit(&mut self) -> ExitStatus {
        self.server.running.wait_for_exit()
    }

    /// A request to the HTTP address.
    pub(crate) fn request(&self, method: Method, target: &str) -> RequestBuilder {
        self.client.request(method, format!("http://{}{target}", self.http))
    }

    /// A check about a GET of this path.
    pub(crate) fn check(&self, path: &str) -> RequestBuilder {
        self.check_at("/check", path)
    }

    pub(crate) fn check_at(&self, target: &str, path: &str) -> RequestBuilder {
        let check = self.request(Method::GET, target);
        check
            .header("x-forwarded-method", "GET")
            .header("x-forwarded-uri", path)
    }

    /// The status of a check with one more header.
    pub(crate) async fn status_with(&self, header: (&str, &str)) -> u16 {
        Reply::to(self.check("/").header(header.0, header.1)).await.status
    }

    pub(crate) async fn status_of(&self, path: &str) -> u16 {
        Reply::to(self.check(path)).await.status
    }

    pub(crate) async fn connect(&self) -> Socket {
        Socket::connect_to(self.http).await
    }

    /// How often a check over HTTP had this answer.
    pub(crate) async fn answers(&self, answer: &str) -> f64 {
        let sample = format!("service_requests_total{{api=\"http\",answer=\"{answer}\"}}");
        self.metric(&sample).await
    }
}
