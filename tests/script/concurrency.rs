//! Concurrency limits of several holders: the script decides and stores as the algorithm in Rust does, for all epochs and entries that the
//! calls name.

use proptest::{collection::vec, prelude::*, sample::select};
use support::{
    property,
    redis::{RedisServer, stored},
};
use tollgate::{
    Algorithm, AnyAlgorithm, Concurrency, Micros, Outcome, State, Verdict,
    algorithm::{ConcurrencyState, Holder},
    redis::Connection,
};

use crate::script::{command, eval, eval_packed};

const START: Micros = 1_700_000_000_000_700;
const TIME_TO_LIVE: Micros = 1_000_000;
const RETRY_AFTER: Micros = 250_000;

#[derive(Clone, Copy, Debug)]
enum Kind {
    Acquire,
    Release,
    Renew,
    Peek,
}

#[derive(Clone, Debug)]
struct Call {
    step: i64,
    kind: Kind,
    cost: u32,
    limit: u32,
    id: u64,
    epoch: u64,
    base: u64,
    /// Which of the entries that were made so far the holder knows.
    known: Option<prop::sample::Index>,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let step = select(vec![0, 0, 1, 1000, 400_000, 999_999, 1_000_000, 3_000_000, -500_000]);
    let kind = select(vec![
        Kind::Acquire,
        Kind::Acquire,
        Kind::Release,
        Kind::Renew,
        Kind::Peek,
    ]);
    let numbers = (0..4_u32, 1..5_u32, 1..4_u64, 1..4_u64, 0..3_u64);
    let known = prop::option::of(any::<prop::sample::Index>());
    let call = (step, kind, numbers, known).prop_map(|(step, kind, (cost, limit, id, epoch, base), known)| Call {
        step,
        kind,
        cost,
        limit,
        id,
        epoch,
        base,
        known,
    });
    vec(call, 1..40)
}

#[test]
fn the_script_counts_holders_as_rust_does() {
    let server = RedisServer::start();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/script/concurrency.txt");
    property::holds(300, file, &calls(), async |_, calls| {
        assert_same(&mut server.client(), &calls)
    });
}

/// The value of up to 100 holders is a sequence of numbers, of more an array.
#[test]
fn the_script_counts_many_holders_as_rust_does() {
    let server = RedisServer::start();
    let call = |kind, step, id| Call {
        step,
        kind,
        cost: 1,
        limit: 130,
        id,
        epoch: 1,
        base: 0,
        known: None,
    };
    let mut calls: Vec<Call> = (1..=110).map(|id| call(Kind::Acquire, 1, id)).collect();
    // The others expire, one by one.
    calls.extend((51..=120).map(|id| call(Kind::Acquire, 13_000, id)));
    calls.extend((60..=70).map(|id| call(Kind::Release, 100, id)));
    assert_same(&mut server.client(), &calls);
}

/// The key expires with the entry that expires last.
#[test]
fn a_key_expires_with_its_last_entry() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    let times = [30_000_000, 30_000_000, 45_000_000, 1_000_000, 86_400_000_000, 1_000_000];
    for is_packed in [true, false] {
        command::<()>(redis, &["FLUSHALL"]);
        let mut latest = [0; 3];
        for (index, time_to_live) in times.into_iter().cycle().take(18).enumerate() {
            let id = 1 + index % 2;
            let operation = ["acquire 1 1 1 1 0", "settle 1 1 1 1 0 -1 0 0", "renew 1 1 1"][index % 3];
            let arguments = format!("* 1 concurrency 9 {time_to_live} 250 {id} 1 0 -1 1 {operation}");
            let reply = match is_packed {
                true => eval_packed(redis, &["key"], &arguments),
                false => eval(redis, &["key"], &arguments).unwrap(),
            };
            latest[id] = reply[0] + time_to_live;
            let expected = (latest.into_iter().max().unwrap() as u64).div_ceil(1000) as i64;
            assert_eq!(command::<i64>(redis, &["PEXPIRETIME", "key"]), expected, "{arguments}");
        }
    }
}

fn assert_same(redis: &mut Connection, calls: &[Call]) {
    command::<()>(redis, &["FLUSHALL"]);
    let (mut state, mut now, mut entries) = (ConcurrencyState::default(), START, vec![START]);
    for call in calls {
        now = now.saturating_add_signed(call.step);
        let made_at = call.known.map(|known| entries[known.index(entries.len())]);
        let &Call {
            limit,
            id,
            epoch,
            base,
            cost,
            ..
        } = call;
        let algorithm = Concurrency::new(limit)
            .time_to_live(std::time::Duration::from_micros(TIME_TO_LIVE))
            .retry_after(std::time::Duration::from_micros(RETRY_AFTER));
        let holder = Holder {
            id,
            epoch,
            base,
            made_at,
        };
        let (verdict, position) = match call.kind {
            Kind::Acquire => {
                let (verdict, mark) = algorithm.acquire_as(holder, &mut state, now, cost);
                (verdict, mark.map(|mark| mark.to_numbers()[1]))
            }
            Kind::Peek => (algorithm.peek_as(holder, &state, now, cost), None),
            Kind::Release => {
                let position = algorithm.release_as(holder, &mut state, now, cost);
                (algorithm.peek_as(holder, &state, now, 0), position)
            }
            Kind::Renew => {
                let position = algorithm.renew_as(holder, &mut state, now);
                (algorithm.peek_as(holder, &state, now, 0), position)
            }
        };
        entries.extend(position);
        let made_at = made_at.map_or(-1, |made_at| made_at as i64);
        // A release has its own.
        let of_rule = match call.kind {
            Kind::Release => 7,
            Kind::Acquire | Kind::Peek | Kind::Renew => made_at,
        };
        let rule = format!("1 concurrency {limit} {TIME_TO_LIVE} {RETRY_AFTER} {id} {epoch} {base} {of_rule}");
        let operation = match call.kind {
            Kind::Acquire => format!("1 acquire 1 1 1 {cost} 0"),
            Kind::Peek => format!("1 peek 1 1 1 {cost} 0"),
            Kind::Release => format!("1 settle 1 1 1 {cost} 0 {made_at} 0 0"),
            Kind::Renew => "1 renew 1 1 1".to_owned(),
        };
        let arguments = format!("{now} {rule} {operation}");
        let expected = reply(now, verdict, position);
        assert_eq!(eval(redis, &["text"], &arguments).unwrap(), expected, "{arguments}");
        assert_eq!(eval_packed(redis, &["packed"], &arguments), expected, "{arguments}");
        let any = AnyAlgorithm::Concurrency(algorithm);
        for key in ["text", "packed"] {
            let stored = stored(redis, key).and_then(|text| any.parse_state(&text));
            let alive = algorithm.expires_at(&state) > now;
            match (stored, alive) {
                (Some(State::Concurrency(stored)), true) => assert_eq!(*stored, state, "{arguments}"),
                // With a time of the caller, Redis keeps a key for an hour.
                (Some(State::Concurrency(stored)), false) => assert!(algorithm.expires_at(&stored) <= now),
                (stored, alive) => assert!(stored.is_none() && !alive, "{stored:?} instead of {state}"),
            }
        }
    }
}

/// The reply of the script to one charge.
fn reply(now: Micros, verdict: Verdict, position: Option<Micros>) -> Vec<i64> {
    let (outcome, wait) = match verdict.outcome() {
        Outcome::Admitted { .. } => (0, 0),
        Outcome::Limited { retry_after } => (1, retry_after.as_micros() as i64),
        _ => (2, 0),
    };
    let remaining = match (verdict.remaining(), outcome) {
        (0, 0 | 2) => (1 << 33) + RETRY_AFTER as i64,
        (remaining, _) => remaining as i64,
    };
    let reset_after = verdict.reset_after().as_micros() as i64;
    let [at, position] = position.map_or([-1, -1], |position| [now as i64, position as i64]);
    vec![now as i64, outcome, remaining, wait, reset_after, at, position]
}
