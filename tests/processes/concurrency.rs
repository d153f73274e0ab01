//! Four processes serve requests under one concurrency limit, whose clients disconnect at random. One process is stopped for longer than
//! the time-to-live, another is killed. At no time do live processes serve more requests than the limit, and at the end all slots are free.
//!
//! This is a test in real time, since stopped processes are. What it asserts holds however slow the machine is: a request counts from when
//! its handler has begun until before its handler or its body is dropped.

use std::{
    fs::{self, File},
    io::{BufReader, Write},
    process::{Child, ChildStdout},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{Router, body::Body, routing::get};
use tollgate::{Charge, Concurrency, Global, Key, Limit, Operation, RateLimitLayer, RedisStore, Store, Tier};

use support::{
    folder::Folder,
    http::Server,
    redis::{RedisServer, query},
    subprocess::argument,
    test_path,
};

use crate::processes::{in_real_time, now, signal, start_all};

const PROCESSES: usize = 4;
const CLIENTS: usize = 4;
const SLOTS: usize = 6;
/// Longer than a busy machine lets a process wait between two renewals.
const TIME_TO_LIVE: Duration = Duration::from_secs(3);
/// The time between two events.
const PERIOD: Duration = Duration::from_secs(1);
/// The requests that the processes serve in all. A slow machine takes longer for them.
const REQUESTS: usize = 100;

fn concurrency() -> Concurrency {
    Concurrency::new(SLOTS as u32).time_to_live(TIME_TO_LIVE)
}

/// Writes when requests begin and end, each with a number.
#[derive(Clone)]
struct Record {
    file: Arc<Mutex<File>>,
    next: Arc<AtomicU64>,
}

/// A request that is served.
struct Served {
    record: Record,
    number: u64,
}

impl Record {
    fn begin(&self) -> Served {
        let served = Served {
            record: self.clone(),
            number: self.next.fetch_add(1, Ordering::Relaxed),
        };
        self.write("begin", served.number);
        served
    }

    fn write(&self, what: &str, number: u64) {
        let mut file = self.file.lock().unwrap();
        file.write_all(format!("{what} {number} {}\n", now()).as_bytes())
            .unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.record.write("end", self.number);
    }
}

/// Numbers that depend on the seed alone.
fn next(seed: &mut u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *seed >> 33
}

/// Takes some time, and streams a body that takes some more.
async fn serve(record: Record, mut seed: u64) -> Body {
    let served = record.begin();
    tokio::time::sleep(Duration::from_millis(next(&mut seed) % 20)).await;
    let chunks = futures_util::stream::unfold((served, 0), move |(served, sent)| async move {
        tokio::time::sleep(Duration::from_millis(3)).await;
        (sent < 3).then_some((Ok::<_, std::convert::Infallible>("chunk"), (served, sent + 1)))
    });
    Body::from_stream(chunks)
}

/// A process, which the parent tells when to start and when to end.
async fn work(argument: &str) {
    let (url, path) = argument.split_once(' ').unwrap();
    let store = RedisStore::builder().url(url).deadline(support::redis::DEADLINE);
    let store = store.build().unwrap();
    store.check().await.unwrap();
    let record = Record {
        file: Arc::new(Mutex::new(File::create(path).unwrap())),
        next: Arc::default(),
    };
    let seeds = Arc::new(AtomicU64::new(u64::from(std::process::id())));
    let handler = get(async move || serve(record, seeds.fetch_add(1, Ordering::Relaxed)).await);
    let tier = Tier::new("uploads", concurrency(), Global);
    let layer = RateLimitLayer::new(tier, store).fail_closed();
    let server = Arc::new(Server::start(Router::new().route("/", handler).layer(layer)).await);
    println!("\nready");
    std::io::stdin().read_line(&mut String::new()).unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let clients: Vec<_> = (0..CLIENTS as u64)
        .map(|mut seed| {
            let (server, is_over) = (Arc::clone(&server), Arc::clone(&is_over));
            tokio::spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    // Two thirds of the clients disconnect early.
                    let patience = [5, 15, 60_000][(next(&mut seed) % 3) as usize];
                    let reply = async { server.request("/").send().await.unwrap().bytes().await.is_ok() };
                    _ = tokio::time::timeout(Duration::from_millis(patience), reply).await;
                }
            })
        })
        .collect();
    // The clients run on other threads.
    std::io::stdin().read_line(&mut String::new()).unwrap();
    is_over.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    // What clients have abandoned is released before the process ends.
    tokio::time::sleep(Duration::from_millis(300)).await;
}

fn tell(processes: &mut [(Child, BufReader<ChildStdout>)], line: &str) {
    for (process, _) in processes {
        writeln!(process.stdin.as_mut().unwrap(), "{line}").unwrap();
    }
}

/// The times at which requests of a process were certainly served, until the process was stopped or killed if it was.
fn served(lines: &str, disturbed_at: Option<u64>, resumed_at: Option<u64>) -> Vec<(u64, u64)> {
    let mut begun = std::collections::HashMap::new();
    let mut served = Vec::new();
    for line in lines.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [what, number, at] = words[..] else {
            continue; // Its writer was killed.
        };
        let at: u64 = at.parse().unwrap();
        match what {
            "begin" => drop(begun.insert(number, at)),
            _ => served.push((begun.remove(number).unwrap(), at)),
        }
    }
    // Killed in mid-request.
    served.extend(begun.into_values().map(|begin| (begin, u64::MAX)));
    for (begin, end) in &mut served {
        if let Some(disturbed_at) = disturbed_at
            && *begin < resumed_at.unwrap_or(u64::MAX)
        {
            *end = (*end).min(disturbed_at).max(*begin);
        }
    }
    served
}

/// The most requests at once.
fn most_at_once(served: &[(u64, u64)]) -> usize {
    let mut changes: Vec<(u64, i32)> = served
        .iter()
        .flat_map(|&(begin, end)| [(begin, 1), (end, -1)])
        .collect();
    // What ends at a time is not there at that time.
    changes.sort_unstable();
    let (mut at_once, mut most) = (0, 0);
    for (_, change) in changes {
        at_once += change;
        most = most.max(at_once);
    }
    most as usize
}

#[test]
fn four_processes_never_hold_too_much() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    if let Some(argument) = argument() {
        return runtime.block_on(work(&argument));
    }
    let _alone = in_real_time();
    let (server, folder) = (RedisServer::start(), Folder::new("concurrency"));
    let files: Vec<String> = (0..PROCESSES).map(|number| folder.file(&number.to_string())).collect();
    let mut processes = start_all(test_path!("four_processes_never_hold_too_much"), &server.url(), &files);
    tell(&mut processes, "start");
    std::thread::sleep(PERIOD);
    let stopped_at = now();
    signal(&processes[0].0, "-STOP");
    std::thread::sleep(TIME_TO_LIVE + TIME_TO_LIVE / 2);
    let resumed_at = now();
    signal(&processes[0].0, "-CONT");
    std::thread::sleep(PERIOD / 2);
    let killed_at = now();
    let (mut killed, _) = processes.remove(1);
    killed.kill().unwrap();
    assert!(!killed.wait().unwrap().success());
    std::thread::sleep(PERIOD / 2);

    let all_served = || {
        let mut all = Vec::new();
        for (number, file) in files.iter().enumerate() {
            let (disturbed_at, resumed_at) = match number {
                0 => (Some(stopped_at), Some(resumed_at)),
                1 => (Some(killed_at), None),
                _ => (None, None),
            };
            all.extend(served(&fs::read_to_string(file).unwrap(), disturbed_at, resumed_at));
        }
        all
    };
    let deadline = Instant::now() + support::redis::DEADLINE;
    while Instant::now() < deadline && (all_served().len() < REQUESTS || most_at_once(&all_served()) < SLOTS) {
        std::thread::sleep(PERIOD / 10);
    }
    tell(&mut processes, "end");
    for (mut process, _) in processes {
        assert!(process.wait().unwrap().success());
    }
    let (ended_at, all) = (now(), all_served());
    assert!(all.len() >= REQUESTS, "{} requests", all.len());
    assert_eq!(most_at_once(&all), SLOTS);

    // What the processes have left expires with the time-to-live, on the clock of Redis.
    let mut redis = server.client();
    loop {
        let [seconds, micros]: [u64; 2] = query(&mut redis, "TIME");
        if seconds * 1_000_000 + micros > ended_at + TIME_TO_LIVE.as_micros() as u64 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let store = server.store().build().unwrap();
    let charge = Charge::new(Limit::new("uploads", concurrency()), Key::GLOBAL).with_cost(0);
    let peeked = runtime.block_on(store.apply(Operation::Peek(charge.into()))).unwrap();
    assert_eq!(peeked.tiers()[0].verdict().remaining(), SLOTS as u64);
}
