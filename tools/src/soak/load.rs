//! Asks every process a hundred times a second, whether or not it has answered what it was asked before.

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
    limits::{HEADER, Mode, USERS},
    support::random::Random,
};

/// From one request to the next, at each process.
pub(crate) const PACE: Duration = Duration::from_millis(10);

/// Who has not been answered by then never will be.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A request and what became of it.
pub(crate) struct Record {
    pub(crate) process: usize,
    pub(crate) mode: Mode,
    pub(crate) user: usize,
    pub(crate) began: Instant,
    pub(crate) ended: Instant,
    /// Or what came in place of an answer.
    pub(crate) answer: Result<Answer, String>,
}

type Records = Arc<Mutex<Vec<Record>>>;

pub(crate) struct Load {
    records: Records,
    is_over: Arc<AtomicBool>,
    askers: Vec<JoinHandle<()>>,
}

impl Load {
    pub(crate) fn start(runtime: &Handle, urls: impl Iterator<Item = String>, seed: u64) -> Self {
        let (records, is_over) = (Records::default(), Arc::<AtomicBool>::default());
        let ask = |(process, url)| {
            let random = Random::seeded(seed ^ (process as u64 + 1));
            runtime.spawn(ask(process, url, random, Arc::clone(&records), Arc::clone(&is_over)))
        };
        let askers = urls.enumerate().map(ask).collect();
        Self {
            records,
            is_over,
            askers,
        }
    }

    /// What became of the requests that have been answered so far.
    pub(crate) fn records(&self) -> MutexGuard<'_, Vec<Record>> {
        lock(&self.records)
    }

    /// Waits for the last answers, closes the connections, and tells what became of every request.
    pub(crate) fn stop(self, runtime: &Handle) -> Vec<Record> {
        self.is_over.store(true, Ordering::Relaxed);
        for asker in self.askers {
            runtime.block_on(asker).expect("an asker does not panic");
        }
        std::mem::take(&mut lock(&self.records))
    }
}

fn lock(records: &Records) -> MutexGuard<'_, Vec<Record>> {
    records.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn ask(process: usize, url: String, mut random: Random, records: Records, is_over: Arc<AtomicBool>) {
    let client = Client::builder().timeout(PATIENCE).build().expect("a client of HTTP");
    let mut unanswered = JoinSet::new();
    let mut turn = interval(PACE);
    // After a pause of the whole machine, nobody makes up for what was not asked.
    turn.set_missed_tick_behavior(MissedTickBehavior::Skip);
    while !is_over.load(Ordering::Relaxed) {
        turn.tick().await;
        while unanswered.try_join_next().is_some() {}
        let mode = Mode::ALL[random.one_of(Mode::ALL.len())];
        // Half of the requests are one user's, who is refused most of the time. The others nearly spend what they have.
        let user = random.one_of(2) * random.one_of(USERS);
        let (client, records, to) = (client.clone(), Arc::clone(&records), format!("{url}/{}", mode.name()));
        unanswered.spawn(async move {
            let began = Instant::now();
            let answer = answer(&client, &to, user).await;
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
    unanswered.join_all().await;
}

async fn answer(client: &Client, url: &str, user: usize) -> Result<Answer, String> {
    let failed = |error| format!("no answer: {error:?}");
    let response = client.get(url).header(HEADER, user).send().await.map_err(failed)?;
    let status = response.status().as_u16();
    let text = response.text().await.map_err(failed)?;
    let answer = text.parse().ok();
    let answer = answer.filter(|answer: &Answer| answer.status() == status);
    answer.ok_or_else(|| format!("an answer that makes no sense: {status} {text:?}"))
}
