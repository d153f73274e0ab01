//! Four processes that queue on one Redis bucket leave as from one queue: evenly, with no gap, and no two at once.

use std::{
    io::{BufRead, BufReader, Lines, Write},
    process::{Child, ChildStdout},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use axum::{Router, http::HeaderMap, routing::get};
use tokio::{runtime::Runtime, task::JoinSet};
use tollgate::{Decision, Key, LeakyBucket, Limiter, Micros, Quota, RedisStore};

use support::{
    again::{again, told},
    http::Server,
    redis::{DEADLINE, RedisServer},
    test_path,
};

const PROCESSES: u64 = 4;
const CALLS: u64 = 50;
/// Between two departures, in microseconds: there are a hundred a second.
const APART: Micros = 10_000;

/// On Redis's own clock.
fn queue(name: &str, redis: &str) -> Limiter<RedisStore> {
    let store = RedisStore::builder().url(redis).deadline(DEADLINE);
    let bucket = LeakyBucket::new(Quota::per_second(100)).capacity(10_000);
    Limiter::new(name, bucket, store.build().unwrap())
}

fn departure(decision: &Decision) -> Micros {
    assert!(decision.admits());
    decision.now() + decision.delay().as_micros() as Micros
}

/// Says that it is ready, and waits until the others are.
fn ready() {
    println!("\nready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

async fn work(redis: &str, receiver: String) {
    let [scheduled, held] = ["scheduled", "held"].map(|name| queue(name, redis));
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for queue in [&scheduled, &held] {
        queue.peek(&Key::GLOBAL).await.unwrap();
    }

    ready();
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        let scheduled = scheduled.clone();
        calls.spawn(async move { departure(&scheduled.check(&Key::GLOBAL).await.unwrap()).to_string() });
    }
    println!("\ndepartures: {}", calls.join_all().await.join(" "));

    ready();
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        let (held, call) = (held.clone(), client.get(&receiver));
        calls.spawn(async move {
            let decision = held.wait(&Key::GLOBAL, Duration::ZERO).await.unwrap();
            let call = call.header("x-departure", departure(&decision));
            call.send().await.unwrap();
        });
    }
    calls.join_all().await;
}

/// What reached whom the workers call: how many microseconds after it was to leave.
type Late = Arc<Mutex<Vec<i64>>>;

async fn receiver(late: Late) -> Server {
    let handler = async move |headers: HeaderMap| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let departure: i64 = headers["x-departure"].to_str().unwrap().parse().unwrap();
        late.lock().unwrap().push(now.as_micros() as i64 - departure);
    };
    Server::start_without_peers(Router::new().route("/", get(handler))).await
}

struct Worker {
    process: Child,
    said: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    fn start(redis: &str, receiver: &str) -> Self {
        let test = test_path!("four_processes_leave_evenly_and_one_at_a_time");
        let mut process = again(test, &format!("{redis} {receiver}")).spawn().unwrap();
        let said = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, said }
    }

    /// The rest of the next line that begins like this.
    fn says(&mut self, words: &str) -> String {
        let mut lines = self.said.by_ref().map(Result::unwrap);
        let line = lines.find_map(|line| Some(line.strip_prefix(words)?.trim().to_owned()));
        line.unwrap_or_else(|| panic!("a worker ends without {words:?}"))
    }

    fn go(&mut self) {
        self.process.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    }
}

/// Lets them all start together, behind so many that have the queue to themselves until then.
fn start(workers: &mut [Worker], runtime: &Runtime, queue: &Limiter<RedisStore>, ahead: u64) -> Micros {
    for worker in workers.iter_mut() {
        worker.says("ready");
    }
    let busy = runtime.block_on(queue.check_n(&Key::GLOBAL, ahead)).unwrap();
    workers.iter_mut().for_each(Worker::go);
    departure(&busy) + ahead * APART
}

#[test]
fn four_processes_leave_evenly_and_one_at_a_time() {
    let runtime = Runtime::new().unwrap();
    // One of the four is told where their Redis is, and whom to call.
    if let Some(told) = told() {
        let (redis, receiver) = told.split_once(' ').unwrap();
        return runtime.block_on(work(redis, receiver.to_owned()));
    }
    let (redis, late) = (RedisServer::start(), Late::default());
    let receiver = runtime.block_on(receiver(late.clone()));
    let mut workers: Vec<_> = (0..PROCESSES)
        .map(|_| Worker::start(&redis.url(), &receiver.url()))
        .collect();
    let [scheduled, held] = ["scheduled", "held"].map(|name| queue(name, &redis.url()));

    // Nobody has to leave within half a minute, so nobody can come too late for the queue.
    let first = start(&mut workers, &runtime, &scheduled, 3000);
    let said = workers.iter_mut().map(|worker| worker.says("departures:"));
    let said: Vec<String> = said.collect();
    let departures = said.iter().flat_map(|said| said.split(' '));
    let mut departures: Vec<Micros> = departures.map(|departure| departure.parse().unwrap()).collect();
    departures.sort_unstable();
    let evenly = (0..PROCESSES * CALLS).map(|place| first + place * APART);
    assert_eq!(departures, evenly.collect::<Vec<_>>());

    // This time they do leave.
    start(&mut workers, &runtime, &held, 50);
    for mut worker in workers {
        worker.said.for_each(drop);
        assert!(worker.process.wait().unwrap().success());
    }
    let late = late.lock().unwrap();
    assert_eq!(late.len() as u64, PROCESSES * CALLS);
    // How late a call is, is up to the machine and to its timers, which count in milliseconds.
    assert!(late.iter().all(|late| *late >= 0), "{late:?}");
}
