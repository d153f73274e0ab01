//! Envoy's rate limit API, called by a gRPC client.

pub(crate) mod client;
mod costs;
mod health;
mod invalid;
mod outage;
mod responses;
mod shared_redis;

use std::ops::Deref;

use self::client::Client;
use super::fixture::program;
use crate::server_process::ServerProcess;
use support::redis::RedisServer;

/// The fields of rules files that these tests cover.
pub(crate) const COVERS: &[&str] = &["limit domain", "limit descriptor"];

/// A service with both APIs, at free ports.
pub(crate) struct GrpcService {
    pub(crate) server: ServerProcess,
    pub(crate) client: Client,
}

impl Deref for GrpcService {
    type Target = ServerProcess;

    fn deref(&self) -> &ServerProcess {
        &self.server
    }
}

impl GrpcService {
    pub(crate) fn start(rules: &str, options: &[&str]) -> Self {
        let addresses = ["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"];
        let server = ServerProcess::start(program().args(addresses), rules, options);
        let client = Client::new(server.running.address("grpc      "));
        Self { server, client }
    }

    /// Counting on this Redis, with a store timeout that a busy machine does not exceed.
    pub(crate) fn with_redis(redis: &RedisServer, rules: &str, options: &[&str]) -> Self {
        let store = ["--store", &redis.url(), "--store-timeout", "30s"];
        Self::start(rules, &[&store, options].concat())
    }

    /// How often a call had this answer.
    pub(crate) async fn answers(&self, answer: &str) -> f64 {
        let sample = format!("service_requests_total{{api=\"grpc\",answer=\"{answer}\"}}");
        self.metric(&sample).await
    }
}

/// A limit of descriptors in the domain `edge`, in a window that neither ends nor refills while a test runs.
pub(crate) fn limit(name: &str, limit: usize, descriptor: &str) -> String {
    super::fixture::limit(name, limit, &format!("domain = 'edge'\ndescriptor = {descriptor}"))
}
