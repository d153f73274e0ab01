//! The same laws for the Lua script on real servers, checked on its replies and on the stored keys.

use std::{cell::RefCell, time::Duration};

use proptest::collection::vec;
use tollgate::{
    Algorithm, Charge, Charges, Cost, Decision, Key, Limit, MAX_TIMESTAMP, Micros, Operation, Outcome, State, Verdict,
};

use support::{
    cluster::Cluster,
    property::holds,
    redis::{RedisServer, dump_all, query},
    stores::AnyStore,
    strategies::{any_algorithm, any_elapse, any_size, clamp},
};

use crate::laws::{FAILURES, START, Steps, any_steps, assert_within_bound, micros};

/// A caller with a new key, at times that the test chooses.
struct Caller<'a> {
    store: &'a AnyStore,
    key: Key,
}

impl Caller<'_> {
    async fn group(&self, now: Micros, tiers: impl IntoIterator<Item = (&Limit, Cost)>) -> Decision {
        let mut charges = Charges::new();
        for (limit, cost) in tiers {
            let charge = Charge::new(limit.clone(), self.key.clone());
            charges.push(charge.with_cost(cost)).unwrap();
        }
        self.store.apply(now, Operation::Acquire(charges)).await
    }

    async fn acquire(&self, now: Micros, limit: &Limit, cost: Cost) -> Verdict {
        self.group(now, [(limit, cost)]).await.tiers()[0].verdict()
    }

    async fn peek(&self, now: Micros, limit: &Limit) -> Verdict {
        self.acquire(now, limit, 0).await
    }
}

fn check_one_limit(store: &AnyStore, cases: u32) {
    let input = (any_algorithm(), any_steps(), any_elapse(), any_elapse(), any_size());
    holds(
        cases,
        FAILURES,
        &input,
        async |number, (algorithm, steps, back, later, size)| {
            let limit = Limit::new("law", algorithm);
            let [caller, new_caller] = ["caller", "new_caller"].map(|name| Caller {
                store,
                key: Key::named(name, number),
            });
            let (state, now) = check_traffic(&caller, &limit, &steps).await;
            check_clock_set_back(&caller, &limit, &state, back.of(&algorithm)).await;
            let Some(now) = check_promised_times(&caller, &limit, now).await else {
                return;
            };
            // Expired state is decided and charged like no state.
            let (now, cost) = (later.after(now, &algorithm), size.of(&algorithm));
            for cost in [cost, 0] {
                let [known, new] = [&caller, &new_caller].map(|caller| caller.acquire(now, &limit, cost));
                assert_eq!(known.await, new.await);
            }
        },
    );
}

/// During traffic, a denial changes nothing and `retry_after` is tight, and the admissions stay within their bound. Returns the
/// resulting state and the time of the last request.
async fn check_traffic(caller: &Caller<'_>, limit: &Limit, steps: &Steps) -> (State, Micros) {
    let algorithm = limit.algorithm();
    let (mut state, mut now, mut admitted) = (State::Fresh, START, Vec::new());
    for (elapse, size) in steps {
        now = elapse.after(now, algorithm);
        let cost = size.of(algorithm);
        let before = caller.peek(now, limit).await;
        match caller.acquire(now, limit, cost).await.outcome() {
            Outcome::Admitted { .. } => {
                admitted.push((now, cost.into()));
                if cost > 0 {
                    algorithm.commit(&mut state, now, cost);
                }
                continue;
            }
            Outcome::Limited { retry_after } => {
                let almost = (now + micros(retry_after) - 1).min(MAX_TIMESTAMP);
                let outcome = caller.acquire(almost, limit, cost).await.outcome();
                assert_eq!(outcome.name(), "limited");
            }
            _ => assert!(cost > algorithm.capacity()),
        }
        assert_eq!(caller.peek(now, limit).await, before, "a denial changed something");
    }
    assert_within_bound(algorithm, &admitted);
    (state, now)
}

/// A time before the latest one in the state is clamped to it.
async fn check_clock_set_back(caller: &Caller<'_>, limit: &Limit, state: &State, back: Micros) {
    if *state != State::Fresh {
        let latest = clamp(limit.algorithm(), state);
        let earlier = latest.saturating_sub(back);
        assert_eq!(caller.peek(earlier, limit).await, caller.peek(latest, limit).await);
    }
}

/// The full capacity is admitted after `retry_after`, and again after `reset_after`. Returns when the limit has reset
/// after that, unless it exceeds the largest timestamp.
async fn check_promised_times(caller: &Caller<'_>, limit: &Limit, mut now: Micros) -> Option<Micros> {
    let within = |time: Micros| (time <= MAX_TIMESTAMP).then_some(time);
    let all = limit.algorithm().capacity();
    if let Outcome::Limited { retry_after } = caller.acquire(now, limit, all).await.outcome() {
        now = within(now + micros(retry_after))?;
        assert!(caller.acquire(now, limit, all).await.outcome().admits());
    }
    now = within(now + micros(caller.peek(now, limit).await.reset_after()))?;
    let verdict = caller.acquire(now, limit, all).await;
    assert_eq!(verdict.outcome(), Outcome::Admitted { delay: Duration::ZERO });
    within(now + micros(verdict.reset_after()))
}

/// A denied group changes no key or expiry time and creates none, and every tier reports its remaining units
/// correctly.
fn check_denied_groups(server: &RedisServer, cases: u32) {
    let (store, redis) = (AnyStore::redis(server, "rate_limit"), RefCell::new(server.client()));
    let requests = vec((any_elapse(), vec(any_size(), 4)), 1..20);
    let input = (vec(any_algorithm(), 1..5), requests);
    holds(cases, FAILURES, &input, async |number, (algorithms, requests)| {
        let tiers = algorithms.iter().zip(0..);
        let limits: Vec<_> = tiers
            .map(|(algorithm, tier)| Limit::new(&format!("tier{tier}"), *algorithm))
            .collect();
        let key = Key::named("caller", number);
        let caller = Caller { store: &store, key };
        let mut now = START;
        for (elapse, sizes) in requests {
            now = elapse.after(now, &algorithms[0]);
            let before = dump_all(&mut redis.borrow_mut());
            let mut peeked = Vec::new();
            for limit in &limits {
                peeked.push(caller.peek(now, limit).await);
            }
            let costs = algorithms.iter().zip(sizes).map(|(algorithm, size)| size.of(algorithm));
            let decision = caller.group(now, limits.iter().zip(costs)).await;
            let verdicts = decision.tiers().iter().map(|tier| tier.verdict());
            let all = verdicts.clone().all(|verdict| verdict.outcome().admits());
            assert_eq!(decision.admits(), all);
            if !all {
                assert_eq!(dump_all(&mut redis.borrow_mut()), before);
                for (verdict, peeked) in verdicts.zip(peeked) {
                    assert_eq!(
                        (verdict.remaining(), verdict.reset_after()),
                        (peeked.remaining(), peeked.reset_after())
                    );
                    assert!(verdict.delay().is_zero());
                }
            }
        }
        query::<()>(&mut redis.borrow_mut(), "FLUSHALL");
    });
}

#[test]
fn redis_keeps_the_laws() {
    let server = RedisServer::start();
    check_one_limit(&AnyStore::redis(&server, "rate_limit"), 1000);
    check_denied_groups(&server, 1000);
}

#[test]
fn valkey_keeps_the_laws() {
    let server = RedisServer::valkey();
    check_one_limit(&AnyStore::redis(&server, "rate_limit"), 1000);
    check_denied_groups(&server, 1000);
}

#[test]
fn a_cluster_keeps_the_laws() {
    let cluster = Cluster::start();
    check_one_limit(&AnyStore::cluster(&cluster, "rate_limit"), 500);
}
