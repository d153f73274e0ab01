//! A server, a client, and each store on a clock of the test's.

use std::{
    future::Future,
    net::SocketAddr,
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use axum::{Router, http::HeaderMap};
use reqwest::{Client, RequestBuilder};
use tokio::{net::TcpListener, task::JoinHandle};
use tollgate::{Charge, Key, Limit, ManualClock, MemoryStore, Micros, Operation, RedisStore, Store};

use crate::support::redis::RedisServer;

/// A quarter past 15 seconds into a minute, so that nothing is round.
pub(crate) const NOW: Micros = 615_250_000;

/// A test per store of each of these: `async fn name<St: TestStore>()`.
macro_rules! on_both_stores {
    ($($test:ident),* $(,)?) => {
        mod in_memory {
            $(#[tokio::test]
            async fn $test() {
                super::$test::<tollgate::MemoryStore>().await;
            })*
        }

        mod on_redis {
            $(#[tokio::test]
            async fn $test() {
                super::$test::<tollgate::RedisStore>().await;
            })*
        }
    };
}
pub(crate) use on_both_stores;

pub(crate) trait TestStore: Store {
    /// As many nodes that share what they count, with nobody else.
    fn nodes<const N: usize>(clock: &ManualClock) -> [Self; N];

    /// A store of its own, at [`NOW`].
    fn fresh() -> (Self, ManualClock) {
        let clock = ManualClock::at(NOW);
        let [store] = Self::nodes(&clock);
        (store, clock)
    }

    /// What is left of a limit, by the word of the store.
    async fn left(&self, limit: &Limit, key: &Key) -> u64 {
        let charge = Charge::new(limit.clone(), key.clone()).cost(0);
        let decision = self.apply(Operation::Acquire(charge.into())).await;
        let Ok(decision) = decision else {
            panic!("the store cannot decide");
        };
        decision.tiers()[0].verdict().remaining()
    }
}

impl TestStore for MemoryStore {
    fn nodes<const N: usize>(clock: &ManualClock) -> [Self; N] {
        let store = Self::builder().clock(clock.clone()).build();
        std::array::from_fn(|_| store.clone())
    }
}

impl TestStore for RedisStore {
    fn nodes<const N: usize>(clock: &ManualClock) -> [Self; N] {
        static SERVER: OnceLock<RedisServer> = OnceLock::new();
        static CASES: AtomicU32 = AtomicU32::new(0);
        let server = SERVER.get_or_init(RedisServer::start);
        let prefix = format!("case-{}", CASES.fetch_add(1, Ordering::Relaxed));
        std::array::from_fn(|_| {
            let store = server.store().prefix(&prefix).clock(clock.clone());
            store.build().unwrap()
        })
    }
}

/// A server on a port of its own, and a client that knows it.
pub(crate) struct Server {
    address: SocketAddr,
    client: Client,
    task: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start(app: Router) -> Self {
        let service = app.into_make_service_with_connect_info::<SocketAddr>();
        Self::serve(async |listener| axum::serve(listener, service).await.unwrap()).await
    }

    /// Nobody tells the app who is at the other end.
    pub(crate) async fn start_without_peers(app: Router) -> Self {
        Self::serve(async |listener| axum::serve(listener, app).await.unwrap()).await
    }

    async fn serve<F>(serve: impl FnOnce(TcpListener) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Self {
            address: listener.local_addr().unwrap(),
            // Nothing takes that long: a test that would hang fails.
            client: Client::builder().no_proxy().timeout(PATIENCE).build().unwrap(),
            task: tokio::spawn(serve(listener)),
        }
    }

    pub(crate) fn request(&self, path: &str) -> RequestBuilder {
        self.client.get(format!("http://{}{path}", self.address))
    }

    pub(crate) fn post(&self, path: &str) -> RequestBuilder {
        self.client.post(format!("http://{}{path}", self.address))
    }

    pub(crate) fn get(&self, path: &str) -> impl Future<Output = Reply> + Send + use<> {
        Reply::to(self.request(path))
    }

    /// A request to `/` by the user of this id.
    pub(crate) fn get_as(&self, user: &str) -> impl Future<Output = Reply> + Send + use<> {
        Reply::to(self.request("/").header("x-user-id", user))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What a client was answered.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
    headers: HeaderMap,
}

impl Reply {
    pub(crate) async fn to(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        Self {
            status: response.status().as_u16(),
            headers: response.headers().clone(),
            body: response.text().await.unwrap(),
        }
    }

    /// Every line of a header, with ` + ` between two; `-` where there is none.
    pub(crate) fn header(&self, name: &str) -> String {
        let lines = self.headers.get_all(name).iter();
        let lines: Vec<_> = lines.map(|line| line.to_str().unwrap()).collect();
        if lines.is_empty() {
            "-".into()
        } else {
            lines.join(" + ")
        }
    }

    /// All that it says of limits: `Limit Remaining Reset | RateLimit-Policy | RateLimit`.
    pub(crate) fn limits(&self) -> String {
        let [limit, remaining, reset] = ["limit", "remaining", "reset"].map(|name| self.x(name));
        let [policy, state] = ["ratelimit-policy", "ratelimit"].map(|name| self.header(name));
        format!("{limit} {remaining} {reset} | {policy} | {state}")
    }

    /// What is left of the tightest tier.
    pub(crate) fn remaining(&self) -> String {
        self.x("remaining")
    }

    /// The status, `Retry-After`, and all that it says of limits.
    pub(crate) fn all(&self) -> (u16, String, String) {
        (self.status, self.header("retry-after"), self.limits())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    fn x(&self, name: &str) -> String {
        self.header(&format!("x-ratelimit-{name}"))
    }
}

/// No header speaks of limits.
pub(crate) const NOTHING: &str = "- - - | - | -";

const PATIENCE: Duration = Duration::from_secs(30);

/// Lets everybody else run until it is so. What is never so fails.
pub(crate) async fn until(mut so: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !so().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, wait).await.expect("it is never so");
}
