//! Four processes share one queueing leaky bucket on Redis: requests depart at even intervals, without gaps or collisions.

use std::{
    io::{BufRead, BufReader, Lines, Write},
    process::{Child, ChildStdout},
    sync::{Arc, Mutex},
    time::{Duration, SystemTime},
};

use axum::{Router, http::HeaderMap, routing::get};
use tokio::{runtime::Runtime, task::JoinSet};
use tollgate::{CallKey, Decision, Key, LeakyBucket, Limiter, Micros, Quota, RedisStore, Tier};

use support::{
    http::Server,
    redis::{DEADLINE, RedisServer},
    subprocess::{argument, rerun},
    test_path,
};

const PROCESSES: u64 = 4;
const CALLS: u64 = 50;
/// Microseconds between two departures, at a hundred per second.
const INTERVAL: Micros = 10_000;

/// A limiter on Redis's clock.
fn queue(name: &str, redis: &str) -> Limiter<RedisStore> {
    let store = RedisStore::builder().url(redis).deadline(DEADLINE);
    let bucket = LeakyBucket::new(Quota::per_second(100)).capacity(10_000);
    Limiter::new(Tier::new(name, bucket, CallKey), store.build().unwrap())
}

fn departure(decision: &Decision) -> Micros {
    assert!(decision.admits());
    decision.now() + decision.delay().as_micros() as Micros
}

/// Reports readiness, and waits for the parent's line.
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

/// The delay of each received call after its scheduled departure, in microseconds.
type Delays = Arc<Mutex<Vec<i64>>>;

async fn receiver(delays: Delays) -> Server {
    let handler = async move |headers: HeaderMap| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let departure: i64 = headers["x-departure"].to_str().unwrap().parse().unwrap();
        delays.lock().unwrap().push(now.as_micros() as i64 - departure);
    };
    Server::start_without_peers(Router::new().route("/", get(handler))).await
}

struct Worker {
    process: Child,
    stdout: Lines<BufReader<ChildStdout>>,
}

impl Worker {
    fn start(redis: &str, receiver: &str) -> Self {
        let test = test_path!("four_processes_depart_evenly_and_one_at_a_time");
        let mut process = rerun(test, &format!("{redis} {receiver}")).spawn().unwrap();
        let stdout = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, stdout }
    }

    /// The rest of the next line with this prefix.
    fn read_line(&mut self, prefix: &str) -> String {
        let mut lines = self.stdout.by_ref().map(Result::unwrap);
        let line = lines.find_map(|line| Some(line.strip_prefix(prefix)?.trim().to_owned()));
        line.unwrap_or_else(|| panic!("a worker exited without {prefix:?}"))
    }

    fn go(&mut self) {
        self.process.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    }
}

/// Starts all workers at once, behind this many requests in the queue. Returns the first free departure.
fn start(workers: &mut [Worker], runtime: &Runtime, queue: &Limiter<RedisStore>, ahead: u64) -> Micros {
    for worker in workers.iter_mut() {
        worker.read_line("ready");
    }
    let first = runtime.block_on(queue.check_n(&Key::GLOBAL, ahead)).unwrap();
    workers.iter_mut().for_each(Worker::go);
    departure(&first) + ahead * INTERVAL
}

#[test]
fn four_processes_depart_evenly_and_one_at_a_time() {
    let runtime = Runtime::new().unwrap();
    // A child process gets the URLs of Redis and of the receiver.
    if let Some(urls) = argument() {
        let (redis, receiver) = urls.split_once(' ').unwrap();
        return runtime.block_on(work(redis, receiver.to_owned()));
    }
    let (redis, delays) = (RedisServer::start(), Delays::default());
    let receiver = runtime.block_on(receiver(delays.clone()));
    let mut workers: Vec<_> = (0..PROCESSES)
        .map(|_| Worker::start(&redis.url(), &receiver.url()))
        .collect();
    let [scheduled, held] = ["scheduled", "held"].map(|name| queue(name, &redis.url()));

    // No departure is due within half a minute, so no request arrives after its place in the queue has passed.
    let first = start(&mut workers, &runtime, &scheduled, 3000);
    let lines = workers.iter_mut().map(|worker| worker.read_line("departures:"));
    let lines: Vec<String> = lines.collect();
    let departures = lines.iter().flat_map(|line| line.split(' '));
    let mut departures: Vec<Micros> = departures.map(|departure| departure.parse().unwrap()).collect();
    departures.sort_unstable();
    let expected = (0..PROCESSES * CALLS).map(|place| first + place * INTERVAL);
    assert_eq!(departures, expected.collect::<Vec<_>>());

    // This time the calls are sent.
    start(&mut workers, &runtime, &held, 50);
    for mut worker in workers {
        worker.stdout.for_each(drop);
        assert!(worker.process.wait().unwrap().success());
    }
    let delays = delays.lock().unwrap();
    assert_eq!(delays.len() as u64, PROCESSES * CALLS);
    // The delay depends on the machine and on its timers, which have a resolution of one millisecond.
    assert!(delays.iter().all(|delay| *delay >= 0), "{delays:?}");
}
