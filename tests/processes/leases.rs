//! Four processes spend leases of the same keys for many windows, while one is stopped for longer than the lease time and another is
//! killed. No window has more spends than the limit, and the undisturbed ones have hardly fewer.
//!
//! This is a test in real time, since stopped processes are. What it asserts about limits holds however slow the machine is: a spend
//! happened between two readings of the clock, and is counted in a span only if both are within it. What it asserts about usage refers
//! to what the same limits admit without leases, of the same requests at the same times.

use std::{
    fs::{self, File},
    io::Write,
    ops::Range,
    time::Duration,
};

use tollgate::{
    AnyAlgorithm, Charge, FixedWindow, Key, Limit, ManualClock, MemoryStore, Micros, Operation, Quota, RedisStore,
    SlidingCounter, SlidingLog, Store, TokenBucket,
};

use support::{
    folder::Folder,
    redis::{RedisServer, calls},
    subprocess::argument,
    test_path,
};

use crate::processes::{in_real_time, now, signal, start_all};

const PROCESSES: u64 = 4;
const WINDOW: Micros = 2_000_000;
const WINDOWS: u64 = 10;
const REQUESTS: u64 = 5000;
const CAPACITY: u64 = 1000;

/// Longer than a busy machine lets a process wait: what it cannot spend meanwhile expires. A log admits its limit per window and lease
/// time: 96% per window.
const LEASE: Duration = Duration::from_millis(80);

/// The window in the middle of which a process is stopped for several lease times, and the one in which a process is killed. Until the
/// end of the next window, what they held may be missing.
const STOPPED_IN: u64 = 3;
const KILLED_IN: u64 = 6;

fn limits() -> [Limit; 4] {
    let quota = Quota::new(REQUESTS as u32, Duration::from_micros(WINDOW));
    [
        Limit::new("window", FixedWindow::new(quota)).lease(LEASE),
        Limit::new("counter", SlidingCounter::new(quota).sub_windows(10)).lease(LEASE),
        Limit::new("bucket", TokenBucket::with_capacity(quota, CAPACITY as u32)).lease(LEASE),
        Limit::new("log", SlidingLog::new(quota)).lease(LEASE),
    ]
}

/// The number of requests that a process should have made by now, from the start of the window on: a little more than its share of the
/// limit, or in every other window, three times as much.
fn due(now: Micros) -> u64 {
    let share = REQUESTS * (now % WINDOW) / WINDOW / PROCESSES;
    match (now / WINDOW).is_multiple_of(2) {
        true => share + share / 20,
        false => 3 * share,
    }
}

/// Makes requests to one limit, and writes when each was made, and whether it was admitted.
async fn spend(store: RedisStore, limit: Limit, mut file: File, start: u64) {
    let (name, mut window, mut made) = (limit.name().to_owned(), start, 0);
    while now() < start * WINDOW {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    while window < start + WINDOWS {
        let before = now();
        if before / WINDOW > window {
            (window, made) = (before / WINDOW, 0);
        }
        if made >= due(before) {
            tokio::time::sleep(Duration::from_millis(1)).await;
            continue;
        }
        made += 1;
        let decision = store.apply(Operation::Acquire(Charge::new(limit.clone(), Key::GLOBAL).into()));
        let kind = if decision.await.unwrap().admits() {
            "spent"
        } else {
            "denied"
        };
        writeln!(file, "{kind} {name} {before} {}", now()).unwrap();
    }
}

/// A process, which the parent tells when to start.
async fn work(argument: &str) {
    let (url, path) = argument.split_once(' ').unwrap();
    let store = RedisStore::builder().url(url).deadline(support::redis::DEADLINE);
    let store = store.build().unwrap();
    store.check().await.unwrap();
    println!("\nready");
    let mut start = String::new();
    std::io::stdin().read_line(&mut start).unwrap();
    let start = start.trim().parse().unwrap();
    let file = File::options().create(true).append(true).open(path).unwrap();
    let spend = |limit| tokio::spawn(spend(store.clone(), limit, file.try_clone().unwrap(), start));
    for task in limits().map(spend) {
        task.await.unwrap();
    }
}

fn sleep_until(at: Micros) {
    std::thread::sleep(Duration::from_micros(at.saturating_sub(now())));
}

/// A spend happened between these times.
#[derive(Clone, Copy)]
struct Spend {
    after: Micros,
    before: Micros,
}

impl Spend {
    fn is_within(&self, start: Micros, end: Micros) -> bool {
        start <= self.after && self.before < end
    }
}

/// What all processes wrote about a limit.
struct Record {
    spends: Vec<Spend>,
    /// When each request was made, in order.
    requests: Vec<Micros>,
}

impl Record {
    fn of(limit: &Limit, lines: &str) -> Self {
        let (mut spends, mut requests) = (Vec::new(), Vec::new());
        for line in lines.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [kind, name, after, before] = words[..] else {
                continue; // Its writer was killed.
            };
            if name != limit.name() {
                continue;
            }
            let (after, before): (u64, u64) = (after.parse().unwrap(), before.parse().unwrap());
            requests.push(after);
            if kind == "spent" {
                spends.push(Spend { after, before });
            }
        }
        spends.sort_by_key(|spend| spend.after);
        requests.sort_unstable();
        Self { spends, requests }
    }

    /// When the same limit without leases admits a request, of the same ones.
    fn admitted_without_leases(&self, limit: &Limit) -> Vec<Micros> {
        let limit = Limit::new(limit.name(), *limit.algorithm());
        let clock = ManualClock::at(0);
        let store = MemoryStore::builder().clock(clock.clone()).build();
        let mut admitted = self.requests.clone();
        admitted.retain(|at| {
            clock.set(*at);
            store.acquire(&limit, &Key::GLOBAL, 1).outcome().admits()
        });
        admitted
    }

    fn within(&self, start: Micros, end: Micros) -> u64 {
        let first = self.spends.partition_point(|spend| spend.after < start);
        let spends = self.spends[first..].iter().take_while(|spend| spend.after < end);
        spends.filter(|spend| spend.is_within(start, end)).count() as u64
    }

    /// Asserts a bound on the spends of every span that begins with a spend and is this long.
    fn assert_spans(&self, limit: &Limit, length: Micros, bound: u64) {
        let mut ends: Vec<Micros> = self.spends.iter().map(|spend| spend.before).collect();
        ends.sort_unstable();
        for (earlier, first) in self.spends.iter().enumerate() {
            let end = first.after + length;
            let spends = ends.partition_point(|before| *before < end).saturating_sub(earlier) as u64;
            assert!(spends <= bound, "{limit}: {spends} in {length} us from {}", first.after);
        }
    }

    /// The law of each algorithm without leases.
    fn assert_law(&self, limit: &Limit, windows: Range<u64>) {
        match limit.algorithm() {
            AnyAlgorithm::SlidingLog(_) => self.assert_spans(limit, WINDOW, REQUESTS),
            AnyAlgorithm::TokenBucket(_) => {
                for length in [WINDOW / 1000, WINDOW / 25, WINDOW / 4, WINDOW, 3 * WINDOW] {
                    self.assert_spans(limit, length, CAPACITY + length * REQUESTS / WINDOW);
                }
            }
            _ => {
                for window in windows {
                    let spends = self.within(window * WINDOW, (window + 1) * WINDOW);
                    assert!(spends <= REQUESTS, "{limit}: {spends} in window {window}");
                }
            }
        }
    }

    /// In windows without a stop or a kill, almost as much is used as without leases.
    fn assert_usage(&self, limit: &Limit, start: u64) {
        let is_disturbed = |window| {
            [STOPPED_IN, KILLED_IN]
                .iter()
                .any(|&first| (first..first + 2).contains(&window))
        };
        let windows = (start..start + WINDOWS).filter(|window| !is_disturbed(window - start));
        let without_leases = self.admitted_without_leases(limit);
        let (mut spends, mut usable) = (Vec::new(), Vec::new());
        for window in windows {
            spends.push(self.within(window * WINDOW, (window + 1) * WINDOW));
            usable.push(without_leases.iter().filter(|at| *at / WINDOW == window).count() as u64);
        }
        let [used, usable_in_all] = [&spends, &usable].map(|counts| counts.iter().sum::<u64>());
        assert!(100 * used >= 95 * usable_in_all, "{limit}: {spends:?} of {usable:?}");
    }
}

#[test]
fn four_processes_never_spend_too_much() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    if let Some(argument) = argument() {
        return runtime.block_on(work(&argument));
    }
    let _alone = in_real_time();
    let (server, folder) = (RedisServer::start(), Folder::new("leases"));
    let files: Vec<String> = (0..PROCESSES).map(|number| folder.file(&number.to_string())).collect();
    let mut processes = start_all(test_path!("four_processes_never_spend_too_much"), &server.url(), &files);
    let start = now() / WINDOW + 1;
    for (process, _) in &mut processes {
        writeln!(process.stdin.as_mut().unwrap(), "{start}").unwrap();
    }

    sleep_until((start + STOPPED_IN) * WINDOW + WINDOW / 2);
    signal(&processes[0].0, "-STOP");
    std::thread::sleep(5 * LEASE);
    signal(&processes[0].0, "-CONT");
    sleep_until((start + KILLED_IN) * WINDOW + WINDOW / 3);
    processes[1].0.kill().unwrap();
    for (number, (mut process, _)) in processes.into_iter().enumerate() {
        assert_eq!(process.wait().unwrap().success(), number != 1);
    }

    let lines: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let mut made = 0;
    for limit in limits() {
        let record = Record::of(&limit, &lines);
        record.assert_law(&limit, start..start + WINDOWS);
        record.assert_usage(&limit, start);
        made += record.requests.len() as u64;
    }
    // Most requests were decided without Redis, or they would not show much about leases.
    let calls = calls(&mut server.client(), "evalsha");
    assert!(calls < made / 2, "{calls} calls for {made} requests");
}
