//! Laws of `RateLimit` and `Retry-After`: what remains (`r`), the effective window (`t`), and how both relate to the policy (`q`, `w`).
//! They are checked on the headers of random decisions, which are the same in memory and on Redis.

use futures_util::future::join_all;
use http::{HeaderMap, Request, Response};
use proptest::collection::vec;
use tollgate::{
    Algorithm, AnyAlgorithm, Charge, Cost, Decision, HttpResponder, Key, Limit, MAX_TIMESTAMP, Micros, Operation,
    Rejection, Respond, State,
};

use support::{
    property::holds,
    redis::RedisServer,
    stores::AnyStore,
    strategies::{any_algorithm, any_elapse, any_size},
};

use crate::laws::{FAILURES, START};

/// Traces that run side by side, so that their requests to Redis share calls, and the steps of each.
const TRACES: usize = 64;
const STEPS: usize = 12;
/// Together more than 10,000 traces.
const CASES: u32 = 160;

/// More requests than this are sent in groups.
const MAX_REQUESTS: u64 = 20;

const SECOND: u128 = 1_000_000;

fn response_headers(decision: Decision) -> HeaderMap {
    type Reply = Result<Response<String>, ()>;
    let responder = HttpResponder::new();
    if !decision.admits() {
        let rejection = Rejection::Limited(decision.into());
        let reply: Reply = Respond::<Request<()>, _, _>::reject(&responder, false, rejection);
        return reply.unwrap().into_parts().0.headers;
    }
    let mut response = Response::new(String::new());
    Respond::<Request<()>, _, ()>::admit(&responder, false, &decision, &mut response);
    response.into_parts().0.headers
}

/// A parameter of the only member of a list.
fn parameter(headers: &HeaderMap, field: &str, name: &str) -> Option<u64> {
    let member = headers.get(field)?.to_str().unwrap();
    member
        .split(';')
        .find_map(|parameter| parameter.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
}

/// A model of one trace, by the pure functions.
struct Trace {
    algorithm: AnyAlgorithm,
    limit: Limit,
    key: Key,
    state: State,
}

impl Trace {
    fn operation(&self, cost: Cost) -> Operation {
        let charge = Charge::new(self.limit.clone(), self.key.clone()).with_cost(cost);
        Operation::Acquire(charge.into())
    }

    /// Checks the headers of a decision, after which the state is `self.state`.
    fn check(&self, now: Micros, retry_after: Option<u64>, headers: &HeaderMap) {
        let parameter = |field, name| parameter(headers, field, name);
        let [q, r, t] = [("ratelimit-policy", "q"), ("ratelimit", "r"), ("ratelimit", "t")]
            .map(|(field, name)| u128::from(parameter(field, name).unwrap()));
        let w = u128::from(parameter("ratelimit-policy", "w").unwrap_or(1));
        let is_fixed = matches!(self.algorithm, AnyAlgorithm::FixedWindow(_));

        // Nothing is invited that the policy does not allow, and the client waits no longer than it has to.
        assert!(t >= 1);
        let wait = match retry_after {
            Some(wait) => u128::from(wait),
            // Until a request of cost 1 is admitted, if none is now.
            None => self
                .algorithm
                .peek(&self.state, now, 1)
                .retry_after()
                .map_or(0, |wait| wait.as_micros()),
        };
        if !is_fixed {
            assert!(r * w <= q * t);
            assert_eq!(t, (r * w).div_ceil(q).max(wait.div_ceil(SECOND)));
        }
        assert!(t * SECOND >= wait);
        let stated = headers
            .get("retry-after")
            .map(|seconds| seconds.to_str().unwrap().parse::<u128>().unwrap());
        assert_eq!(stated, retry_after.map(|_| t));

        self.check_client(now, r as u64, t as u64);
    }

    /// A client that spreads `remaining` over `seconds` is never denied.
    fn check_client(&self, now: Micros, remaining: u64, seconds: u64) {
        if remaining == 0 || u128::from(now) + u128::from(seconds) * SECOND > u128::from(MAX_TIMESTAMP) {
            return;
        }
        let requests = remaining.min(MAX_REQUESTS);
        let (mut state, mut sent) = (self.state.clone(), 0);
        for number in 0..requests {
            let at = now + (u128::from(number) * u128::from(seconds) * SECOND / u128::from(requests)) as Micros;
            let total = (u128::from(number + 1) * u128::from(remaining) / u128::from(requests)) as u64;
            let cost = (total - sent) as Cost;
            let (verdict, _) = self.algorithm.acquire(&mut state, at, cost);
            assert!(
                verdict.outcome().admits(),
                "{number} of {remaining} in {seconds} s: {verdict:?}"
            );
            sent = total;
        }
    }
}

fn check(store: &AnyStore) {
    let traces = vec((any_algorithm(), vec(any_size(), STEPS)), TRACES);
    let elapses = vec((any_elapse(), 0..TRACES), STEPS);
    holds(
        CASES,
        FAILURES,
        &(traces, elapses),
        async |number, (traces, elapses)| {
            let (sizes, mut traces): (Vec<_>, Vec<_>) = traces
                .into_iter()
                .enumerate()
                .map(|(trace, (algorithm, sizes))| {
                    let (limit, key) = (
                        Limit::new(&format!("law{trace}"), algorithm),
                        Key::named("client", number),
                    );
                    let state = State::Fresh;
                    (
                        sizes,
                        Trace {
                            algorithm,
                            limit,
                            key,
                            state,
                        },
                    )
                })
                .unzip();
            let mut now = START;
            for (step, (elapse, paced_by)) in elapses.into_iter().enumerate() {
                now = elapse.after(now, &traces[paced_by].algorithm);
                let costs: Vec<_> = traces
                    .iter()
                    .zip(&sizes)
                    .map(|(trace, sizes)| sizes[step].of(&trace.algorithm))
                    .collect();
                let decisions = traces
                    .iter()
                    .zip(&costs)
                    .map(|(trace, cost)| store.apply(now, trace.operation(*cost)));
                for ((decision, trace), cost) in join_all(decisions).await.into_iter().zip(&mut traces).zip(costs) {
                    let verdict = decision.tiers()[0].verdict();
                    assert_eq!(verdict, trace.algorithm.acquire(&mut trace.state, now, cost).0);
                    let retry_after = verdict.retry_after().map(|wait| wait.as_micros() as u64);
                    trace.check(now, retry_after, &response_headers(decision));
                }
            }
        },
    );
}

#[test]
fn a_memory_store_states_effective_windows() {
    check(&AnyStore::memory().0);
}

#[test]
fn redis_states_effective_windows() {
    let server = RedisServer::start();
    check(&AnyStore::redis(&server, "rate_limit"));
}
