//! Bytes that come back, held against what they say plainly.

use tollgate::{
    Algorithm, Charge, FixedWindow, Key, LeakyBucket, Limit, Operation, Quota, SlidingCounter, SlidingLog, TokenBucket,
    fuzzing::{self, Answer, Call},
    redis::{Value, parse_redis_value},
};

use super::{
    plainly::Plainly,
    told::{self, Told, Untold},
    written,
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
    let counts = Call::new(operations(asked), None).charges();
    let written = written::as_lua_does(counts.iter().sum(), bytes);
    let all = is_read_plainly(asked, &written::in_bulk(&written));
    assert_eq!(all, counts.len(), "nothing is wrong with it");
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
    let acquires: Vec<bool> = operations
        .iter()
        .map(|operation| matches!(operation, Operation::Acquire(_)))
        .collect();
    let call = Call::new(operations, None);
    let counts = call.charges();
    let plainly = Plainly::new(&value, counts.iter().sum());
    let Some(answers) = call.decode(&value) else {
        assert!(plainly.is_none());
        return 0;
    };
    let mut plainly = plainly.expect("nobody makes sense of it");
    let mut answered = 0;
    for ((answer, charges), acquires) in answers.into_iter().zip(counts).zip(acquires) {
        let told = match &answer {
            Answer::Decision(decision) => Ok(Told::of(decision)),
            Answer::Failure => Err(Untold::Failed),
            Answer::Nonsense => Err(Untold::Senseless),
        };
        assert_eq!(told, plainly.operation(charges, acquires));
        match answer {
            Answer::Decision(decision) => told::is_harmless(decision),
            Answer::Failure => {}
            Answer::Nonsense => break,
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
    let some = |count: u8| (0..count).map(|index| charge(asked / 16 + index));
    let charges = |count| fuzzing::charges(some(count));
    let receipt = |count| fuzzing::receipt(some(count));
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
