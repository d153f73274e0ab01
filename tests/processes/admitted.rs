//! Several processes on one Redis together admit exactly the limit.

use std::{io::Write, process::Child, time::Duration};

use tollgate::{Charge, Charges, FixedWindow, Key, Limit, ManualClock, Micros, Operation, Quota, RedisStore, Store};

use support::{
    algorithms::each_algorithm,
    redis::RedisServer,
    subprocess::{argument, rerun},
    test_path,
};

const PROCESSES: usize = 8;
const REQUESTS: usize = 1000;
const CONCURRENT_REQUESTS: usize = 20;
const NOW: Micros = 1_700_000_000_000_000;

/// Every algorithm on one key, each with a second tier of a higher limit, which shows that denied requests charge no tier.
fn limits() -> Vec<(Limit, Limit)> {
    let algorithms = each_algorithm(Quota::per_hour(777));
    let named = algorithms.into_iter().enumerate();
    let wide = FixedWindow::new(Quota::per_hour(2000));
    named
        .map(|(index, algorithm)| {
            (
                Limit::new(&format!("limit{index}"), algorithm),
                Limit::new(&format!("wide{index}"), wide),
            )
        })
        .collect()
}

fn store(url: &str) -> RedisStore {
    let clock = ManualClock::at(NOW);
    RedisStore::builder()
        .url(url)
        .deadline(Duration::from_secs(60))
        .clock(clock)
        .build()
        .unwrap()
}

/// Sends the requests to each limit and counts the admitted ones.
async fn work(url: &str) -> Vec<usize> {
    let store = store(url);
    let mut admitted = Vec::new();
    for (limit, wide) in limits() {
        let mut count = 0;
        for _ in 0..REQUESTS / CONCURRENT_REQUESTS {
            let requests: Vec<_> = (0..CONCURRENT_REQUESTS)
                .map(|number| {
                    // Half of the requests list the tiers in reverse order.
                    let tiers = if number % 2 == 0 {
                        [&limit, &wide]
                    } else {
                        [&wide, &limit]
                    };
                    let mut charges = Charges::new();
                    for tier in tiers {
                        charges.push(Charge::new(tier.clone(), Key::GLOBAL)).unwrap();
                    }
                    tokio::spawn(store.apply(Operation::Acquire(charges)))
                })
                .collect();
            for request in requests {
                count += usize::from(request.await.unwrap().unwrap().admits());
            }
        }
        admitted.push(count);
    }
    admitted
}

/// The counts that a worker printed.
fn result(worker: Child) -> Vec<usize> {
    let output = worker.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("admitted: "))
        .expect("a worker prints its counts");
    line.split(' ').map(|count| count.parse().unwrap()).collect()
}

#[test]
fn eight_processes_admit_exactly_the_limit() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    // A child process gets the URL of Redis.
    if let Some(url) = argument() {
        // The parent sends a line once all children are running.
        std::io::stdin().read_line(&mut String::new()).unwrap();
        let admitted: Vec<String> = runtime.block_on(work(&url)).iter().map(usize::to_string).collect();
        println!("\nadmitted: {}", admitted.join(" "));
        return;
    }
    let server = RedisServer::start();
    let mut worker = rerun(test_path!("eight_processes_admit_exactly_the_limit"), &server.url());
    let mut workers: Vec<Child> = (0..PROCESSES).map(|_| worker.spawn().unwrap()).collect();
    for worker in &mut workers {
        worker.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    let counts: Vec<Vec<usize>> = workers.into_iter().map(result).collect();
    let store = store(&server.url());
    for (index, (limit, wide)) in limits().into_iter().enumerate() {
        let admitted: usize = counts.iter().map(|counts| counts[index]).sum();
        assert_eq!(admitted, 777, "{limit}");
        // The wide tier was charged for the admitted requests only.
        let peek = Charge::new(wide, Key::GLOBAL).with_cost(0);
        let decision = runtime.block_on(store.apply(Operation::Acquire(peek.into()))).unwrap();
        assert_eq!(decision.tiers()[0].verdict().remaining(), 2000 - 777, "{limit}");
    }
}
