//! Bytes that come back, held against what they say plainly.

use deadpool_redis::redis::{Value, parse_redis_value};

use super::{
    plainly::Plainly,
    told::{self, Told, Untold},
    written,
};
use crate::{
    algorithm::{Algorithm, FixedWindow, LeakyBucket, Mark, SlidingCounter, SlidingLog, TokenBucket},
    charge::{Charge, Charges},
    key::Key,
    limit::Limit,
    operation::Operation,
    quota::Quota,
    receipt::{Charged, Receipt},
    store::redis::wire::{Prefix, Reply, call::encode},
};

/// What was asked, and bytes that come back.
pub fn reply(input: &[u8]) {
    let [asked, how, bytes @ ..] = input else { return };
    match how % 3 {
        0 => {
            is_read_plainly(*asked, bytes);
        }
        1 => {
            is_read_plainly(*asked, &written::in_bulk(bytes));
        }
        _ => is_read_as_written(*asked, bytes),
    }
}

/// What Lua writes is read as it was written, and nothing of it if it breaks off.
fn is_read_as_written(asked: u8, bytes: &[u8]) {
    let operations = operations(asked);
    let charges = operations.iter().map(|operation| operation.charges().count()).sum();
    let written = written::as_lua_does(charges, bytes);
    let all = is_read_plainly(asked, &written::in_bulk(&written));
    assert_eq!(all, operations.len(), "nothing is wrong with it");
    let end = usize::from(bytes.first().copied().unwrap_or_default()) % written.len();
    let cut = is_read_plainly(asked, &written::in_bulk(&written[..end]));
    assert_eq!(cut, 0, "it breaks off");
}

/// How many operations are answered, each as a plain reading has it.
fn is_read_plainly(asked: u8, resp: &[u8]) -> usize {
    // An error of Redis's own is none of the program's answers.
    let value = parse_redis_value(resp).and_then(Value::extract_error);
    let Ok(value) = value else { return 0 };
    let operations = operations(asked);
    let command = encode(operations.iter(), &Prefix("rate_limit".into()), None);
    let counts: Vec<usize> = operations.iter().map(|operation| operation.charges().count()).collect();
    let plainly = Plainly::new(&value, counts.iter().sum());
    let Ok(mut reply) = Reply::new(&value, counts.iter().sum(), &command) else {
        assert!(plainly.is_none());
        return 0;
    };
    let mut plainly = plainly.expect("nobody makes sense of it");
    let mut answered = 0;
    for (operation, charges) in operations.into_iter().zip(counts) {
        let expected = plainly.operation(charges, matches!(operation, Operation::Acquire(_)));
        let answer = reply.decision(operation);
        let told = match &answer {
            Ok(Ok(decision)) => Ok(Told::of(decision)),
            Ok(Err(_)) => Err(Untold::Failed),
            Err(_) => Err(Untold::Senseless),
        };
        assert_eq!(told, expected);
        match answer {
            Ok(Ok(decision)) => told::is_harmless(decision),
            Ok(Err(_)) => {}
            Err(_) => break,
        }
        answered += 1;
    }
    answered
}

/// What was asked: one operation or several, of one charge or several, of every algorithm.
fn operations(asked: u8) -> Vec<Operation> {
    let quota = Quota::per_minute(10);
    let rules = [
        TokenBucket::new(quota).rule(),
        LeakyBucket::new(quota).rule(),
        FixedWindow::new(quota).rule(),
        SlidingLog::new(quota).rule(),
        SlidingCounter::new(quota).rule(),
    ];
    let charge = |index: u8| {
        let rule = rules[usize::from(index) % rules.len()];
        let charge = Charge::new(Limit::new("user", rule), Key::named("user", index));
        if index % 4 == 3 { charge.shadow() } else { charge }
    };
    let charges = |count: u8| Charges::apart((0..count).map(|index| charge(asked / 16 + index)));
    let receipt = |count: u8| {
        let charged = (0..count).map(|index| Charged::new(charge(asked / 16 + index), Mark::default()));
        Receipt::apart(charged.collect())
    };
    match asked % 8 {
        0 | 1 => vec![Operation::Acquire(charges(1))],
        2 => vec![Operation::Acquire(charges(3))],
        3 => vec![Operation::Acquire(charges(1)), Operation::Acquire(charges(2))],
        4 => vec![Operation::Acquire(charges(1)), Operation::Refund(receipt(2))],
        5 => vec![Operation::Settle(receipt(1).settled(7)), Operation::Acquire(charges(2))],
        6 => vec![Operation::Reset(charges(2)), Operation::Acquire(charges(1))],
        _ => vec![Operation::Acquire(charges(0))],
    }
}
