//! Concurrent clients that send requests until they are stopped.

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
    /// Continuous requests for one user, by several clients.
    pub(crate) fn load(&self, user: &str, clients: usize) -> Load {
        let user = user.to_owned();
        self.load_by(clients, move || user.clone())
    }

    /// Continuous requests for a sequence of users, twice the limit for each, so that there is always a user with remaining
    /// units.
    pub(crate) fn load_by_many_users(&self, clients: usize) -> Load {
        let requests = Arc::new(AtomicU64::new(0));
        self.load_by(clients, move || {
            format!("user{}", requests.fetch_add(1, Ordering::Relaxed) / (2 * LIMIT))
        })
    }

    fn load_by(&self, clients: usize, user: impl Fn() -> String + Clone + Send + 'static) -> Load {
        let stop = Arc::new(AtomicBool::new(false));
        let client = || {
            let (node, user, stop) = (self.clone(), user.clone(), Arc::clone(&stop));
            tokio::spawn(async move {
                let mut tally = Tally::default();
                while !stop.load(Ordering::Relaxed) {
                    tally.count(node.request(&user()).await);
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
    /// Stops the clients and returns the responses of all.
    pub(crate) async fn stop(self) -> Tally {
        self.stop.store(true, Ordering::Relaxed);
        let mut tally = Tally::default();
        for client in self.clients {
            tally.add(&client.await.unwrap());
        }
        tally
    }
}
