//! A server behind a limit with a wait queue, which records when each request was served.

use std::{
    future::Future,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Router, extract::Path, routing::get};
use tokio::task::JoinHandle;
use tollgate::{Algorithm, Key, Limit, ManualClock, Micros, Quota, TokenBucket};

pub use super::memory::SECOND;
use super::{
    each_store::{NOW, TestStore},
    http::{Reply, Server},
    wait::yield_until,
};

pub const MICRO: Duration = Duration::from_micros(1);

/// One request every ten seconds, with a capacity of one.
pub fn one_per_10s() -> TokenBucket {
    TokenBucket::new(Quota::per_minute(6)).capacity(1)
}

/// Spawns a future and returns once it sleeps on the clock.
pub async fn spawn_waiting<T: Send + 'static>(
    clock: &ManualClock,
    work: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    let before = clock.pending_sleeps();
    let waiting = tokio::spawn(work);
    yield_until(async || clock.pending_sleeps() == before + 1).await;
    waiting
}

/// Returns once exactly this many requests sleep on the clock, with the new head of each queue among them.
pub async fn until_waiting(clock: &ManualClock, waiting: usize) {
    yield_until(async || clock.pending_sleeps() == waiting).await;
    // A request that has just become the head queries the store now, and does not sleep on the clock meanwhile.
    tokio::task::yield_now().await;
    yield_until(async || clock.pending_sleeps() == waiting).await;
}

/// The requests served, each with the microseconds since the start.
type Served = Arc<Mutex<Vec<(u32, Micros)>>>;

/// A server behind a limit with a wait queue.
pub struct QueuedServer<St> {
    pub server: Server,
    pub store: St,
    pub clock: ManualClock,
    served: Served,
}

impl<St: TestStore> QueuedServer<St> {
    pub async fn with_layer(layered: impl FnOnce(Router, St) -> Router) -> Self {
        let (store, clock) = St::fresh();
        Self::with_store(store, clock, layered).await
    }

    pub async fn with_store(store: St, clock: ManualClock, layered: impl FnOnce(Router, St) -> Router) -> Self {
        let served = Served::default();
        let handler = {
            let (clock, served) = (clock.clone(), served.clone());
            async move |Path(request): Path<u32>| served.lock().unwrap().push((request, clock.now() - NOW))
        };
        let app = layered(Router::new().route("/{request}", get(handler)), store.clone());
        Self {
            server: Server::start(app).await,
            store,
            clock,
            served,
        }
    }

    pub fn get(&self, request: u32) -> impl Future<Output = Reply> + Send + use<St> {
        self.server.get(&format!("/{request}"))
    }

    pub fn get_with(&self, request: u32, (name, value): (&str, &str)) -> impl Future<Output = Reply> + Send + use<St> {
        Reply::to(self.server.request(&format!("/{request}")).header(name, value))
    }

    /// Sends a request and returns once it is queued.
    pub async fn wait(&self, request: u32) -> JoinHandle<Reply> {
        self.wait_for(self.get(request)).await
    }

    pub async fn wait_for(&self, reply: impl Future<Output = Reply> + Send + 'static) -> JoinHandle<Reply> {
        spawn_waiting(&self.clock, reply).await
    }

    pub async fn until_waiting(&self, waiting: usize) {
        until_waiting(&self.clock, waiting).await;
    }

    pub fn served(&self) -> Vec<(u32, Micros)> {
        self.served.lock().unwrap().clone()
    }

    pub async fn left(&self, name: &str, algorithm: impl Algorithm) -> u64 {
        self.store.left(&Limit::new(name, algorithm), &Key::GLOBAL).await
    }
}
