//! Many processes on one Redis admit together exactly what one limit allows.

use std::{io::Write, process::Child, time::Duration};

use tollgate::{Charge, Charges, FixedWindow, Key, Limit, ManualClock, Micros, Operation, Quota, RedisStore, Store};

use support::{
    again::{again, told},
    redis::RedisServer,
    rules::each_algorithm,
    test_path,
};

const PROCESSES: usize = 8;
const REQUESTS: usize = 1000;
const SIDE_BY_SIDE: usize = 20;
const NOW: Micros = 1_700_000_000_000_000;

/// Every algorithm at one key, and a second tier that admits more, so that all or none shows.
fn limits() -> Vec<(Limit, Limit)> {
    let rules = each_algorithm(Quota::per_hour(777));
    let named = rules.into_iter().enumerate();
    let wide = FixedWindow::new(Quota::per_hour(2000));
    named
        .map(|(index, rule)| {
            (
                Limit::new(&format!("limit{index}"), rule),
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

/// Sends a thousand requests to each limit, twenty at a time, and counts what is admitted.
async fn work(url: &str) -> Vec<usize> {
    let store = store(url);
    let mut admitted = Vec::new();
    for (limit, wide) in limits() {
        let mut count = 0;
        for _ in 0..REQUESTS / SIDE_BY_SIDE {
            let requests: Vec<_> = (0..SIDE_BY_SIDE)
                .map(|turn| {
                    // Half of them name the tiers the other way round.
                    let tiers = if turn % 2 == 0 {
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

/// The counts a worker has printed.
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
    // One of the eight is told where their Redis is.
    if let Some(url) = told() {
        // All start together, when the parent has started them all.
        std::io::stdin().read_line(&mut String::new()).unwrap();
        let admitted: Vec<String> = runtime.block_on(work(&url)).iter().map(usize::to_string).collect();
        println!("\nadmitted: {}", admitted.join(" "));
        return;
    }
    let server = RedisServer::start();
    let mut worker = again(test_path!("eight_processes_admit_exactly_the_limit"), &server.url());
    let mut workers: Vec<Child> = (0..PROCESSES).map(|_| worker.spawn().unwrap()).collect();
    for worker in &mut workers {
        worker.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    let counts: Vec<Vec<usize>> = workers.into_iter().map(result).collect();
    let store = store(&server.url());
    for (index, (limit, wide)) in limits().into_iter().enumerate() {
        let admitted: usize = counts.iter().map(|counts| counts[index]).sum();
        assert_eq!(admitted, 777, "{limit}");
        // All or none: the wide tier was charged for the admitted ones and for no other.
        let look = Charge::new(wide, Key::GLOBAL).cost(0);
        let decision = runtime.block_on(store.apply(Operation::Acquire(look.into()))).unwrap();
        assert_eq!(decision.tiers()[0].verdict().remaining(), 2000 - 777, "{limit}");
    }
}
