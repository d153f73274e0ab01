//! Clients that ask a gateway until they are told to stop, each time as somebody whom no limit has met before.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use tokio::task::JoinSet;

use support::{
    http::{NOTHING, Reply},
    patience::eventually,
};

use crate::gateway::fixture::Gateway;

const CLIENTS: usize = 4;

pub(crate) struct Crowd {
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicUsize>,
    clients: JoinSet<Vec<Answer>>,
}

/// What one of them was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    /// What the service has received, if it has.
    pub(crate) line: String,
    pub(crate) status: u16,
    pub(crate) retry_after: String,
    /// Whether it was told what is left.
    pub(crate) is_counted: bool,
}

impl Crowd {
    /// The gateways' limits count by `user`. The crowd has a name, so that two of them are not the same users.
    pub(crate) fn start(name: &'static str, gateway: &Arc<Gateway>) -> Self {
        let (stop, answered) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let client = |client: usize| {
            let (stop, answered, gateway) = (Arc::clone(&stop), Arc::clone(&answered), Arc::clone(gateway));
            async move {
                let mut answers = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let path = format!("/?user={name}-{client}-{}", answers.len());
                    // Whatever is no answer, or takes too long to be one, fails the test here.
                    answers.push(Answer::new(&path, &gateway.get(&path).await));
                    answered.fetch_add(1, Ordering::Relaxed);
                }
                answers
            }
        };
        let clients = (0..CLIENTS).map(client).collect();
        Self {
            stop,
            answered,
            clients,
        }
    }

    /// Returns when so many more have been answered.
    pub(crate) async fn goes_on(&self, more: usize) {
        let before = self.answered.load(Ordering::Relaxed);
        let enough = async || self.answered.load(Ordering::Relaxed) >= before + more;
        eventually("some more are answered", enough).await;
    }

    /// What all of them were answered.
    pub(crate) async fn stop(self) -> Vec<Answer> {
        self.stop.store(true, Ordering::Relaxed);
        self.clients.join_all().await.into_iter().flatten().collect()
    }
}

impl Answer {
    fn new(path: &str, reply: &Reply) -> Self {
        Self {
            line: format!("GET {path}"),
            status: reply.status,
            retry_after: reply.header("retry-after"),
            is_counted: reply.limits() != NOTHING,
        }
    }
}
