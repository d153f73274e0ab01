//! Clients that ask until they are told to stop.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use tokio::task::JoinHandle;

use crate::hazards::fixture::{LIMIT, Node, Tally};

pub(crate) struct Load {
    stop: Arc<AtomicBool>,
    clients: Vec<JoinHandle<Tally>>,
}

impl Node {
    /// Requests for a user that come without end, by several clients at once.
    pub(crate) fn load(&self, user: &str, clients: usize) -> Load {
        let user = user.to_owned();
        self.load_by(clients, move || user.clone())
    }

    /// The same, but there is always somebody who has something left: users come, ask for twice what they may have, and
    /// go.
    pub(crate) fn crowd(&self, clients: usize) -> Load {
        let asked = Arc::new(AtomicU64::new(0));
        self.load_by(clients, move || {
            format!("user{}", asked.fetch_add(1, Ordering::Relaxed) / (2 * LIMIT))
        })
    }

    fn load_by(&self, clients: usize, user: impl Fn() -> String + Clone + Send + 'static) -> Load {
        let stop = Arc::new(AtomicBool::new(false));
        let client = || {
            let (node, user, stop) = (self.clone(), user.clone(), Arc::clone(&stop));
            tokio::spawn(async move {
                let mut tally = Tally::default();
                while !stop.load(Ordering::Relaxed) {
                    tally.count(node.ask(&user()).await);
                    tokio::task::yield_now().await;
                }
                tally
            })
        };
        let clients = (0..clients).map(|_| client()).collect();
        Load { stop, clients }
    }
}

impl Load {
    /// What all of them have seen.
    pub(crate) async fn stop(self) -> Tally {
        self.stop.store(true, Ordering::Relaxed);
        let mut seen = Tally::default();
        for client in self.clients {
            seen.add(&client.await.unwrap());
        }
        seen
    }
}
