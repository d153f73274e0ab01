//! An open-loop load: requests at a fixed rate to every process, whether or not earlier ones have been answered.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use reqwest::Client;
use tokio::{
    runtime::Handle,
    task::{JoinHandle, JoinSet},
    time::sleep_until,
};

use crate::{
    answer::{Answer, DecidedBy},
    limits::{Mode, PROCESSES, USER_HEADER},
    support::random::Random,
    users::Users,
};

/// The time between two requests to a process, unless a rate is set.
pub(crate) const REQUEST_INTERVAL: Duration = Duration::from_millis(10);

/// The maximal number of unanswered requests to a process, many more than a deadline's worth at the highest rate. On a machine that
/// cannot carry the rate, requests would otherwise accumulate until they time out.
const MAX_IN_FLIGHT: usize = 128;

/// A request without a response by then counts as in_flight.
pub(crate) const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);

/// A request and its result.
pub(crate) struct Record {
    pub(crate) process: usize,
    pub(crate) mode: Mode,
    pub(crate) user: usize,
    /// The node that has the user's key.
    pub(crate) node: usize,
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
    /// The answer, or why there is none.
    pub(crate) answer: Result<Answer, String>,
}

impl Record {
    /// Whether Redis decided, or a denial of Redis was repeated.
    pub(crate) fn is_decided_by_redis(&self) -> bool {
        let answer = self.answer.as_ref();
        answer.is_ok_and(|answer| answer.decided_by == DecidedBy::Redis)
    }
}

pub(crate) struct Load {
    shared: Arc<Shared>,
    clients: Vec<JoinHandle<()>>,
}

/// What the clients of all processes share.
struct Shared {
    users: Arc<Users>,
    records: Mutex<Vec<Record>>,
    /// The time between two requests to a process, in microseconds.
    interval: AtomicU64,
    stopping: AtomicBool,
}

impl Load {
    pub(crate) fn start(runtime: &Handle, urls: impl Iterator<Item = String>, users: &Arc<Users>, seed: u64) -> Self {
        let shared = Arc::new(Shared {
            users: Arc::clone(users),
            records: Mutex::default(),
            interval: AtomicU64::new(REQUEST_INTERVAL.as_micros() as u64),
            stopping: AtomicBool::default(),
        });
        let client = |(process, url)| {
            let random = Random::seeded(seed ^ (process as u64 + 1));
            runtime.spawn(Arc::clone(&shared).send_requests(process, url, random))
        };
        let clients = urls.enumerate().map(client).collect();
        Self { shared, clients }
    }

    /// Sets the number of requests a second, to all processes together.
    pub(crate) fn set_rate(&self, rate: u32) {
        let interval = Duration::from_secs(PROCESSES as u64) / rate;
        self.shared
            .interval
            .store(interval.as_micros() as u64, Ordering::Relaxed);
    }

    /// The requests that have been answered so far, in the order of their responses.
    pub(crate) fn records(&self) -> MutexGuard<'_, Vec<Record>> {
        self.shared.records()
    }

    /// Waits for the last responses, closes the connections, and returns the records of all requests.
    pub(crate) fn stop(self, runtime: &Handle) -> Vec<Record> {
        self.shared.stopping.store(true, Ordering::Relaxed);
        for client in self.clients {
            runtime.block_on(client).expect("the client task did not panic");
        }
        std::mem::take(&mut self.shared.records())
    }
}

impl Shared {
    fn records(&self) -> MutexGuard<'_, Vec<Record>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send_requests(self: Arc<Self>, process: usize, url: String, mut random: Random) {
        let client = Client::builder()
            .timeout(CLIENT_TIMEOUT)
            .build()
            .expect("an HTTP client");
        let mut in_flight = JoinSet::new();
        let mut next = tokio::time::Instant::now();
        while !self.stopping.load(Ordering::Relaxed) {
            sleep_until(next).await;
            let interval = Duration::from_micros(self.interval.load(Ordering::Relaxed));
            // After a stall of the machine, skipped requests are not sent later.
            next = (next + interval).max(tokio::time::Instant::now());
            while in_flight.try_join_next().is_some() {}
            if in_flight.len() >= MAX_IN_FLIGHT {
                continue;
            }
            let (mode, user) = self.users.next(&mut random);
            let (client, shared, target) = (client.clone(), Arc::clone(&self), format!("{url}/{}", mode.name()));
            in_flight.spawn(async move {
                let began = Instant::now();
                let answer = get(&client, &target, user).await;
                let ended = Instant::now();
                let node = shared.users.node(mode, user);
                shared.records().push(Record {
                    process,
                    mode,
                    user,
                    node,
                    began,
                    ended,
                    answer,
                });
            });
        }
        in_flight.join_all().await;
    }
}

async fn get(client: &Client, url: &str, user: usize) -> Result<Answer, String> {
    let failed = |error| format!("no response: {error:?}");
    let response = client.get(url).header(USER_HEADER, user).send().await.map_err(failed)?;
    let status = response.status().as_u16();
    let text = response.text().await.map_err(failed)?;
    let answer = text.parse().ok();
    let answer = answer.filter(|answer: &Answer| answer.status() == status);
    answer.ok_or_else(|| format!("invalid response: {status} {text:?}"))
}
