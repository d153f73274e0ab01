//! Background load: clients that send requests until stopped, each request with a new user.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use tokio::task::JoinSet;

use support::{
    http::{NOTHING, Reply},
    wait::eventually,
};

use crate::gateway::fixture::Gateway;

const CLIENTS: usize = 4;

pub(crate) struct BackgroundLoad {
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicUsize>,
    clients: JoinSet<Vec<Response>>,
}

/// The parts of a response that tests check.
#[derive(Debug)]
pub(crate) struct Response {
    /// The request line that the service records if it receives the request.
    pub(crate) line: String,
    pub(crate) status: u16,
    pub(crate) retry_after: String,
    /// Whether it has rate limit headers.
    pub(crate) has_limit_headers: bool,
}

impl BackgroundLoad {
    /// The gateways' limits count by `user`; the name separates the users of two loads.
    pub(crate) fn start(name: &'static str, gateway: &Arc<Gateway>) -> Self {
        let (stop, answered) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let client = |client: usize| {
            let (stop, answered, gateway) = (Arc::clone(&stop), Arc::clone(&answered), Arc::clone(gateway));
            async move {
                let mut responses = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let path = format!("/?user={name}-{client}-{}", responses.len());
                    // An error or a timeout fails the test here.
                    responses.push(Response::new(&path, &gateway.get(&path).await));
                    answered.fetch_add(1, Ordering::Relaxed);
                }
                responses
            }
        };
        let clients = (0..CLIENTS).map(client).collect();
        Self {
            stop,
            answered,
            clients,
        }
    }

    /// Waits for this many more responses.
    pub(crate) async fn wait_for_responses(&self, more: usize) {
        let before = self.answered.load(Ordering::Relaxed);
        let enough = async || self.answered.load(Ordering::Relaxed) >= before + more;
        eventually("more requests are answered", enough).await;
    }

    /// Stops the clients and returns all responses.
    pub(crate) async fn stop(self) -> Vec<Response> {
        self.stop.store(true, Ordering::Relaxed);
        self.clients.join_all().await.into_iter().flatten().collect()
    }
}

impl Response {
    fn new(path: &str, reply: &Reply) -> Self {
        Self {
            line: format!("GET {path}"),
            status: reply.status,
            retry_after: reply.header("retry-after"),
            has_limit_headers: reply.limits() != NOTHING,
        }
    }
}
