//! What a layer adds to a request that is answered without a network.

use std::{
    hint::black_box,
    net::SocketAddr,
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
    http::HeaderMap,
    routing::get,
};
use tollgate::{ClientIp, HttpAnswers, MemoryStore, Quota, RateLimitLayer, RuleSet, TokenBucket};
use tower::{Service, ServiceExt};
use tower_governor::{GovernorLayer, governor::GovernorConfigBuilder};

use crate::bench::{Bench, Pair, median};

/// How many requests are timed together.
const AT_ONCE: u32 = 1000;

/// How many clients there are, and how many requests each has in an hour: in the hundreds, as most limits are, and together
/// more than are made here.
const CLIENTS: u32 = 20_000;
const LIMIT: u32 = 999;

/// The same limit, in code on both sides.
pub fn against_tower_governor(bench: &Bench) -> Pair {
    added(bench, (with_ours(), 3), (with_tower_governor(), 2))
}

/// Our own limit, from a rules file and in code.
pub fn of_rules(bench: &Bench) -> Pair {
    added(bench, (with_rules(), 3), (with_ours(), 3))
}

/// What each of two layers adds to a plain router, which is known to write so many headers.
fn added(bench: &Bench, ours: (Router, usize), other: (Router, usize)) -> Pair {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        // As axum::serve does once: else a router applies its layers anew to every request.
        let routers = [(plain(), 0), ours, other];
        let headers = routers.each_ref().map(|(_, headers)| *headers);
        let mut services = routers.map(|(router, _)| router.with_state(()));
        for (service, headers) in services.iter_mut().zip(headers) {
            assert_eq!(limit_headers(service).await, headers);
        }
        // Short turns and many: what is looked for is a small difference.
        let (start, whole) = (Instant::now(), bench.span * 3 * bench.rounds as u32);
        let mut times = [const { Vec::new() }; 3];
        for turn in (0..).step_by(AT_ONCE as usize) {
            if start.elapsed() > whole {
                break;
            }
            for (service, times) in services.iter_mut().zip(&mut times) {
                times.push(nanoseconds_a_request(service, turn).await);
            }
        }
        let [plain, ours, other] = times.map(median);
        Pair {
            ours: ours - plain,
            other: other - plain,
        }
    })
}

fn plain() -> Router {
    Router::new().route("/", get(async || "hello"))
}

fn with_ours() -> Router {
    let bucket = TokenBucket::new(Quota::per_hour(LIMIT));
    let layer = RateLimitLayer::new("client", bucket, ClientIp::peer(), MemoryStore::new());
    plain().layer(layer.respond_with(HttpAnswers::new().without_ietf_headers()))
}

fn with_rules() -> Router {
    let rules = format!(
        "[[limit]]\nname = \"client\"\nalgorithm = \"token_bucket\"\nlimit = {LIMIT}\nwindow = \"1h\"\nkey = \"ip\"\n"
    );
    let rules = RuleSet::parse(&rules).expect("nothing is wrong with them");
    let layer = RateLimitLayer::rules(rules, MemoryStore::new());
    plain().layer(layer.respond_with(HttpAnswers::new().without_ietf_headers()))
}

fn with_tower_governor() -> Router {
    let mut config = GovernorConfigBuilder::default();
    let config = config
        .period(Duration::from_secs(3600) / LIMIT)
        .burst_size(LIMIT)
        .use_headers()
        .finish();
    plain().layer(GovernorLayer::new(config.expect("neither is 0")))
}

async fn nanoseconds_a_request(service: &mut Router, first: u32) -> f64 {
    let start = Instant::now();
    for turn in first..first + AT_ONCE {
        black_box(call(service, turn).await);
    }
    start.elapsed().as_nanos() as f64 / f64::from(AT_ONCE)
}

async fn limit_headers(service: &mut Router) -> usize {
    let headers = call(service, 0).await;
    headers
        .keys()
        .filter(|name| name.as_str().starts_with("x-ratelimit-"))
        .count()
}

/// Calls it as a server would that has accepted a connection from some client.
async fn call(service: &mut Router, turn: u32) -> HeaderMap {
    let mut request = Request::new(Body::empty());
    let [_, _, third, fourth] = (turn % CLIENTS).to_be_bytes();
    let peer = SocketAddr::from(([10, 0, third, fourth], 1234));
    request.extensions_mut().insert(ConnectInfo(peer));
    let service = <Router as ServiceExt<Request>>::ready(service)
        .await
        .expect("it is always ready");
    let response = service.call(request).await.expect("it never fails");
    assert!(response.status().is_success());
    response.into_parts().0.headers
}
