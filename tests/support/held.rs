//! A server whose requests wait for their turn, and who was served when.

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
    patience::yielding,
};

pub const MICRO: Duration = Duration::from_micros(1);

/// One every ten seconds, and one at once.
pub fn one() -> TokenBucket {
    TokenBucket::new(Quota::per_minute(6)).capacity(1)
}

/// Starts what has to wait, and waits until it does.
pub async fn begin_to_wait<T: Send + 'static>(
    clock: &ManualClock,
    work: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    let before = clock.waiting();
    let waiting = tokio::spawn(work);
    yielding(async || clock.waiting() == before + 1).await;
    waiting
}

/// Waits until so many wait, and whoever has moved up to the head of a line has been told how long.
pub async fn settled(clock: &ManualClock, waiting: usize) {
    yielding(async || clock.waiting() == waiting).await;
    // Whoever has just moved up asks now, and does not wait on the clock while it does.
    tokio::task::yield_now().await;
    yielding(async || clock.waiting() == waiting).await;
}

/// Who has been served, and how many microseconds after the start.
type Served = Arc<Mutex<Vec<(u32, Micros)>>>;

/// A server behind a limit that is waited for.
pub struct Held<St> {
    pub server: Server,
    pub store: St,
    pub clock: ManualClock,
    served: Served,
}

impl<St: TestStore> Held<St> {
    pub async fn behind(layered: impl FnOnce(Router, St) -> Router) -> Self {
        let (store, clock) = St::fresh();
        Self::on(store, clock, layered).await
    }

    pub async fn on(store: St, clock: ManualClock, layered: impl FnOnce(Router, St) -> Router) -> Self {
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

    /// With a header.
    pub fn get_with(&self, request: u32, (name, value): (&str, &str)) -> impl Future<Output = Reply> + Send + use<St> {
        Reply::to(self.server.request(&format!("/{request}")).header(name, value))
    }

    /// Sends a request that waits, and waits until it does.
    pub async fn wait(&self, request: u32) -> JoinHandle<Reply> {
        self.wait_for(self.get(request)).await
    }

    pub async fn wait_for(&self, reply: impl Future<Output = Reply> + Send + 'static) -> JoinHandle<Reply> {
        begin_to_wait(&self.clock, reply).await
    }

    pub async fn settled(&self, waiting: usize) {
        settled(&self.clock, waiting).await;
    }

    pub fn served(&self) -> Vec<(u32, Micros)> {
        self.served.lock().unwrap().clone()
    }

    pub async fn left(&self, name: &str, algorithm: impl Algorithm) -> u64 {
        self.store.left(&Limit::new(name, algorithm), &Key::GLOBAL).await
    }
}
