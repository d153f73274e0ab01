//! The same laws, of the program on real servers: by what it says, and by what it leaves.

use std::cell::RefCell;

use proptest::collection::vec;
use tollgate::{
    Algorithm, Charge, Charges, Cost, Decision, END_OF_TIME, Key, Limit, Micros, Operation, Outcome, State, Verdict,
};

use support::{
    cluster::Cluster,
    property::holds,
    redis::{RedisServer, ask, everything},
    stores::AnyStore,
    traces::{any_elapse, any_rule, any_size, clamp},
};

use crate::laws::{FAILURES, START, Steps, any_steps, micros, stay_within_the_bound};

/// Asks a store at times of the test's choosing, under a name that nobody has used before.
struct Caller<'a> {
    store: &'a AnyStore,
    key: Key,
}

impl Caller<'_> {
    async fn group(&self, now: Micros, tiers: impl IntoIterator<Item = (&Limit, Cost)>) -> Decision {
        let mut charges = Charges::new();
        for (limit, cost) in tiers {
            let charge = Charge::new(limit.clone(), self.key.clone());
            charges.push(charge.cost(cost)).unwrap();
        }
        self.store.apply(now, Operation::Acquire(charges)).await
    }

    async fn ask(&self, now: Micros, limit: &Limit, cost: Cost) -> Verdict {
        self.group(now, [(limit, cost)]).await.tiers()[0].verdict()
    }

    /// Without spending.
    async fn look(&self, now: Micros, limit: &Limit) -> Verdict {
        self.ask(now, limit, 0).await
    }
}

fn one_limit_keeps_the_laws(store: &AnyStore, cases: u32) {
    let input = (any_rule(), any_steps(), any_elapse(), any_elapse(), any_size());
    holds(
        cases,
        FAILURES,
        &input,
        async |number, (rule, steps, back, later, size)| {
            let limit = Limit::new("law", rule);
            let [caller, stranger] = ["caller", "stranger"].map(|who| Caller {
                store,
                key: Key::named(who, number),
            });
            let (state, now) = laws_of_traffic(&caller, &limit, &steps).await;
            a_clock_that_goes_back_grants_nothing(&caller, &limit, &state, back.of(&rule)).await;
            let Some(now) = what_is_promised_is_kept(&caller, &limit, now).await else {
                return;
            };
            // Law 2: lapsed state answers, and is charged, like no state at all.
            let (now, cost) = (later.after(now, &rule), size.of(&rule));
            for cost in [cost, 0] {
                let [known, new] = [&caller, &stranger].map(|who| who.ask(now, &limit, cost));
                assert_eq!(known.await, new.await);
            }
        },
    );
}

/// Laws 1, 3 and 5 while requests come in. Tells what they leave, and when the last one came.
async fn laws_of_traffic(caller: &Caller<'_>, limit: &Limit, steps: &Steps) -> (State, Micros) {
    let rule = limit.rule();
    let (mut state, mut now, mut admitted) = (State::Fresh, START, Vec::new());
    for (elapse, size) in steps {
        now = elapse.after(now, rule);
        let cost = size.of(rule);
        let before = caller.look(now, limit).await;
        match caller.ask(now, limit, cost).await.outcome() {
            Outcome::Admitted { .. } => {
                admitted.push((now, cost.into()));
                if cost > 0 {
                    rule.commit(&mut state, now, cost);
                }
                continue;
            }
            Outcome::Limited { retry_after } => {
                let almost = (now + retry_after - 1).min(END_OF_TIME);
                let outcome = caller.ask(almost, limit, cost).await.outcome();
                assert_eq!(outcome.name(), "limited");
            }
            _ => assert!(cost > rule.capacity()),
        }
        assert_eq!(caller.look(now, limit).await, before, "a refusal changed something");
    }
    stay_within_the_bound(rule, &admitted);
    (state, now)
}

/// Law 4: at an earlier time than the state has seen, it answers as at the latest it has seen.
async fn a_clock_that_goes_back_grants_nothing(caller: &Caller<'_>, limit: &Limit, state: &State, back: Micros) {
    if *state != State::Fresh {
        let latest = clamp(limit.rule(), state);
        let earlier = latest.saturating_sub(back);
        assert_eq!(caller.look(earlier, limit).await, caller.look(latest, limit).await);
    }
}

/// Law 3: all that there ever is passes at the promised time, and again once everything is promised to be back. Tells
/// when it will be back after that, unless time ends before.
async fn what_is_promised_is_kept(caller: &Caller<'_>, limit: &Limit, mut now: Micros) -> Option<Micros> {
    let within = |time: Micros| (time <= END_OF_TIME).then_some(time);
    let all = limit.rule().capacity();
    if let Outcome::Limited { retry_after } = caller.ask(now, limit, all).await.outcome() {
        now = within(now + retry_after)?;
        assert!(caller.ask(now, limit, all).await.outcome().admits());
    }
    now = within(now + micros(caller.look(now, limit).await.reset_after()))?;
    let verdict = caller.ask(now, limit, all).await;
    assert_eq!(verdict.outcome(), Outcome::Admitted { delay: 0 });
    within(now + micros(verdict.reset_after()))
}

/// Laws 1 and 7: a refused group leaves every key and its time-to-live as they were, creates none, and every tier says
/// truthfully what it has left.
fn a_refused_group_leaves_no_trace(server: &RedisServer, cases: u32) {
    let (store, redis) = (AnyStore::redis(server, "rate_limit"), RefCell::new(server.client()));
    let requests = vec((any_elapse(), vec(any_size(), 4)), 1..20);
    let input = (vec(any_rule(), 1..5), requests);
    holds(cases, FAILURES, &input, async |number, (rules, requests)| {
        let tiers = rules.iter().zip(0..);
        let limits: Vec<_> = tiers
            .map(|(rule, tier)| Limit::new(&format!("tier{tier}"), *rule))
            .collect();
        let key = Key::named("caller", number);
        let caller = Caller { store: &store, key };
        let mut now = START;
        for (elapse, sizes) in requests {
            now = elapse.after(now, &rules[0]);
            let before = everything(&mut redis.borrow_mut());
            let mut left = Vec::new();
            for limit in &limits {
                left.push(caller.look(now, limit).await);
            }
            let costs = rules.iter().zip(sizes).map(|(rule, size)| size.of(rule));
            let decision = caller.group(now, limits.iter().zip(costs)).await;
            let verdicts = decision.tiers().iter().map(|tier| tier.verdict());
            let all = verdicts.clone().all(|verdict| verdict.outcome().admits());
            assert_eq!(decision.admits(), all);
            if !all {
                assert_eq!(everything(&mut redis.borrow_mut()), before);
                for (told, left) in verdicts.zip(left) {
                    assert_eq!(
                        (told.remaining(), told.reset_after()),
                        (left.remaining(), left.reset_after())
                    );
                    assert!(told.delay().is_zero());
                }
            }
        }
        ask::<()>(&mut redis.borrow_mut(), "FLUSHALL");
    });
}

#[test]
fn redis_keeps_the_laws() {
    let server = RedisServer::start();
    one_limit_keeps_the_laws(&AnyStore::redis(&server, "rate_limit"), 1000);
    a_refused_group_leaves_no_trace(&server, 1000);
}

#[test]
fn valkey_keeps_the_laws() {
    let server = RedisServer::valkey();
    one_limit_keeps_the_laws(&AnyStore::redis(&server, "rate_limit"), 1000);
    a_refused_group_leaves_no_trace(&server, 1000);
}

#[test]
fn a_cluster_keeps_the_laws() {
    let cluster = Cluster::start();
    one_limit_keeps_the_laws(&AnyStore::cluster(&cluster, "rate_limit"), 500);
}
