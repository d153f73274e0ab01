//! Memory, Redis and Valkey give the same verdicts and leave the same state, whatever is asked of them.

mod cluster;
mod play;
mod trace;

use std::cell::RefCell;

use play::Play;
use support::{
    property::holds,
    redis::{RedisServer, stored_all, time},
    stores::AnyStore,
    traces::{Elapse, Size},
};
use tollgate::redis::{Connection, cmd};
use tollgate::{Algorithm, Decision, Limit, MemoryStore, Micros, Quota, SlidingLog, State};
use trace::{Action, Steps, Tier, any_trace};

/// Plays this many random traces, numbered so that each can have keys of its own.
fn run(traces: u32, play: impl AsyncFn(u64, &[Tier], Steps)) {
    let failures = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/regressions.txt");
    holds(traces, failures, &any_trace(), async |number, (tiers, steps)| {
        play(number, &tiers, steps).await;
    });
}

/// Every tier's state is the same in both; tells by when any of them had lapsed.
fn same_states(memory: &MemoryStore, client: &mut Connection, play: &Play<'_>) -> Micros {
    let name = |limit: &Limit| format!("rate_limit:{limit}:{}", play.key);
    let names: Vec<String> = play.limits.iter().map(name).collect();
    let expiry = |(limit, stored): (&Limit, Option<String>)| {
        let state = memory.state(limit, &play.key);
        assert_eq!(state.as_ref().map(State::to_string), stored, "the state of {limit}");
        state.map_or(0, |state| limit.rule().expires_at(&state))
    };
    let expiries = play.limits.iter().zip(stored_all(client, &names)).map(expiry);
    expiries.filter(|expiry| *expiry <= play.latest).max().unwrap_or(0)
}

#[test]
fn memory_and_redis_agree() {
    agree(&RedisServer::start(), 10_000);
}

#[test]
fn memory_and_valkey_agree() {
    agree(&RedisServer::valkey(), 5000);
}

/// Several tiers, costs, refusals, refunds, settles, resets, changed limits, and a clock that steps back.
fn agree(server: &RedisServer, traces: u32) {
    let (redis, client) = (AnyStore::redis(server, "rate_limit"), RefCell::new(server.client()));
    run(traces, async |number, tiers, steps| {
        let (by_memory, memory) = AnyStore::memory();
        let stores = [by_memory, redis.clone()];
        let mut look = |play: &Play<'_>, _: &Decision| same_states(&memory, &mut client.borrow_mut(), play);
        Play::new(&stores, tiers, number).run(&steps, &mut look).await;
    });
}

/// The largest log, full and then settled to twice its limit, answers alike too.
#[tokio::test]
async fn the_largest_log_agrees() {
    let rule = SlidingLog::new(Quota::per_minute(65_536)).rule();
    let tiers = [Tier {
        versions: vec![rule],
        shadow: false,
    }];
    let acquire = |percent| Action::Acquire(vec![(true, Size::Percent(percent))]);
    let actions = [
        acquire(40),
        acquire(60),
        acquire(1),
        Action::Settle(1, [Size::Percent(200); 2], true),
        acquire(1),
    ];
    let steps = actions
        .into_iter()
        .map(|action| (Elapse::Percent(40), action))
        .collect();
    for server in RedisServer::each() {
        let (by_memory, memory) = AnyStore::memory();
        let stores = [by_memory, AnyStore::redis(&server, "rate_limit")];
        let mut client = server.client();
        let mut look = |play: &Play<'_>, _: &Decision| same_states(&memory, &mut client, play);
        Play::new(&stores, &tiers, 0).run(&steps, &mut look).await;
    }
}

/// What PEXPIRETIME answers for a key that is not there.
const NO_KEY: i64 = -2;

/// Every key that was asked ends in the millisecond in which its state is as good as new.
fn same_ends(client: &mut Connection, play: &Play<'_>, decision: &Decision) {
    for tier in decision.tiers() {
        let name = format!("rate_limit:{}:{}", tier.limit(), play.key);
        let ends: i64 = cmd("PEXPIRETIME").arg(&name).query(client).unwrap();
        let reset_after = tier.verdict().reset_after().as_micros() as Micros;
        let fresh = (decision.now() + reset_after).div_ceil(1000) as i64;
        match (ends, reset_after) {
            (NO_KEY, 0) => {}
            (NO_KEY, _) => assert!(time(client) as i64 / 1000 >= fresh, "{name} went too early"),
            (_, 0) => assert!(ends <= fresh, "{name} outlives its state"),
            _ => assert_eq!(ends, fresh, "{name}"),
        }
    }
}

/// On the server's own clock. A changed limit is left out: what it says of a state is not what the state was kept by.
#[test]
fn a_key_lives_as_long_as_its_state() {
    for server in RedisServer::each() {
        let (stores, client) = (
            [AnyStore::redis_on_its_own_clock(&server)],
            RefCell::new(server.client()),
        );
        run(1000, async |number, tiers, mut steps| {
            steps.retain(|(_, action)| !matches!(action, Action::Change(_)));
            let mut look = |play: &Play<'_>, decision: &Decision| {
                same_ends(&mut client.borrow_mut(), play, decision);
                0
            };
            Play::new(&stores, tiers, number).run(&steps, &mut look).await;
        });
    }
}
