//! An open-loop load: a hundred requests a second to every process, whether or not earlier ones have been answered.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use reqwest::Client;
use tokio::{
    runtime::Handle,
    task::{JoinHandle, JoinSet},
    time::{MissedTickBehavior, interval},
};

use crate::{
    answer::Answer,
    limits::{Mode, USER_HEADER, USERS},
    support::random::Random,
};

/// The time between two requests to a process.
pub(crate) const REQUEST_INTERVAL: Duration = Duration::from_millis(10);

/// A request without a response by then counts as in_flight.
pub(crate) const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);

/// A request and its result.
pub(crate) struct Record {
    pub(crate) process: usize,
    pub(crate) mode: Mode,
    pub(crate) user: usize,
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
    /// The answer, or why there is none.
    pub(crate) answer: Result<Answer, String>,
}

type Records = Arc<Mutex<Vec<Record>>>;

pub(crate) struct Load {
    records: Records,
    stopping: Arc<AtomicBool>,
    clients: Vec<JoinHandle<()>>,
}

impl Load {
    pub(crate) fn start(runtime: &Handle, urls: impl Iterator<Item = String>, seed: u64) -> Self {
        let (records, stopping) = (Records::default(), Arc::<AtomicBool>::default());
        let client = |(process, url)| {
            let random = Random::seeded(seed ^ (process as u64 + 1));
            runtime.spawn(send_requests(
                process,
                url,
                random,
                Arc::clone(&records),
                Arc::clone(&stopping),
            ))
        };
        let clients = urls.enumerate().map(client).collect();
        Self {
            records,
            stopping,
            clients,
        }
    }

    /// The requests that have been answered so far.
    pub(crate) fn records(&self) -> MutexGuard<'_, Vec<Record>> {
        lock(&self.records)
    }

    /// Waits for the last responses, closes the connections, and returns the records of all requests.
    pub(crate) fn stop(self, runtime: &Handle) -> Vec<Record> {
        self.stopping.store(true, Ordering::Relaxed);
        for client in self.clients {
            runtime.block_on(client).expect("the client task did not panic");
        }
        std::mem::take(&mut lock(&self.records))
    }
}

fn lock(records: &Records) -> MutexGuard<'_, Vec<Record>> {
    records.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn send_requests(process: usize, url: String, mut random: Random, records: Records, stopping: Arc<AtomicBool>) {
    let client = Client::builder()
        .timeout(CLIENT_TIMEOUT)
        .build()
        .expect("an HTTP client");
    let mut in_flight = JoinSet::new();
    let mut ticks = interval(REQUEST_INTERVAL);
    // After a stall of the machine, skipped requests are not sent later.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    while !stopping.load(Ordering::Relaxed) {
        ticks.tick().await;
        while in_flight.try_join_next().is_some() {}
        let mode = Mode::ALL[random.index(Mode::ALL.len())];
        // More than half of the requests are user 0's, which is denied most of the time. The others stay just below their limit.
        let user = random.index(2) * random.index(USERS);
        let (client, records, target) = (client.clone(), Arc::clone(&records), format!("{url}/{}", mode.name()));
        in_flight.spawn(async move {
            let began = Instant::now();
            let answer = get(&client, &target, user).await;
            let ended = Instant::now();
            lock(&records).push(Record {
                process,
                mode,
                user,
                began,
                ended,
                answer,
            });
        });
    }
    in_flight.join_all().await;
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
