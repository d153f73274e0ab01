//! The time that a layer adds to a request, without a network.

use std::{hint::black_box, time::Instant};

use axum::Router;
use tollgate::{HttpResponder, MemoryStore, RuleSet, RulesLayer};

use super::routers::{LIMIT, call, plain, with_tower_governor, with_x_headers};
use crate::runner::{Pair, Runner, median};

/// The number of requests between two readings of the clock.
const BATCH: u32 = 1000;

/// The same limit, in code on both sides.
pub fn against_tower_governor(runner: &Runner) -> Pair {
    added(
        runner,
        (with_x_headers(MemoryStore::new()), 3),
        (with_tower_governor(), 2),
    )
}

/// Our own limit, from a rules file and in code.
pub fn rules(runner: &Runner) -> Pair {
    added(runner, (with_rules(), 3), (with_x_headers(MemoryStore::new()), 3))
}

/// The time that each of two layers adds to a plain router. The numbers are the expected counts of rate-limit headers.
fn added(runner: &Runner, ours: (Router, usize), other: (Router, usize)) -> Pair {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        // axum::serve does this once; without it, a router applies its layers to every request anew.
        let routers = [(plain(), 0), ours, other];
        let headers = routers.each_ref().map(|(_, headers)| *headers);
        let mut services = routers.map(|(router, _)| router.with_state(()));
        for (service, headers) in services.iter_mut().zip(headers) {
            assert_eq!(limit_headers(service).await, headers);
        }
        // Many short turns, since the difference is small.
        let (start, whole) = (Instant::now(), runner.span * 3 * runner.rounds as u32);
        let mut times = [const { Vec::new() }; 3];
        for turn in (0..).step_by(BATCH as usize) {
            if start.elapsed() > whole {
                break;
            }
            for (service, times) in services.iter_mut().zip(&mut times) {
                times.push(nanoseconds_per_request(service, turn).await);
            }
        }
        let [plain, ours, other] = times.map(median);
        Pair {
            ours: ours - plain,
            other: other - plain,
        }
    })
}

fn with_rules() -> Router {
    let rules = format!(
        "[[limit]]\nname = \"client\"\nalgorithm = \"token_bucket\"\nlimit = {LIMIT}\nwindow = \"1h\"\nkey = \"ip\"\n"
    );
    let rules = RuleSet::parse(&rules).expect("valid rules");
    let layer = RulesLayer::new(rules, MemoryStore::new());
    plain().layer(layer.respond_with(HttpResponder::new().without_ietf_headers()))
}

async fn nanoseconds_per_request(service: &mut Router, first: u32) -> f64 {
    let start = Instant::now();
    for turn in first..first + BATCH {
        black_box(call(service, turn).await);
    }
    start.elapsed().as_nanos() as f64 / f64::from(BATCH)
}

async fn limit_headers(service: &mut Router) -> usize {
    let headers = call(service, 0).await;
    headers
        .keys()
        .filter(|name| name.as_str().starts_with("x-ratelimit-"))
        .count()
}
