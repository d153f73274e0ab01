//! Replies of any bytes: the crate decodes them like the reference decoder, or rejects them.
//!
//! The first byte of an input selects the operations, the second how the other bytes become a reply.

mod expected;
mod generator;
mod reference_decoder;

use tollgate::{
    Algorithm, Charge, FixedWindow, Key, LeakyBucket, Limit, Operation, Quota, SlidingCounter, SlidingLog, TokenBucket,
    fuzzing::{self, Answer, Call},
    redis::{Value, parse_redis_value},
};

use self::{
    expected::{Expected, NoDecision},
    reference_decoder::ReferenceDecoder,
};

/// Checks operations and the bytes of their reply.
pub fn reply(input: &[u8]) {
    let [selector, framing, bytes @ ..] = input else { return };
    match framing % 3 {
        0 => {
            decodes_like_reference(*selector, bytes);
        }
        1 => {
            decodes_like_reference(*selector, &generator::bulk_string(bytes));
        }
        _ => decodes_generated(*selector, bytes),
    }
}

/// A well-formed reply is decoded completely, and a truncated one is rejected.
fn decodes_generated(selector: u8, bytes: &[u8]) {
    let counts = Call::new(operations(selector), None).charges();
    let reply = generator::reply(counts.iter().sum(), bytes);
    let all = decodes_like_reference(selector, &generator::bulk_string(&reply));
    assert_eq!(all, counts.len(), "the reply is well-formed");
    let end = usize::from(bytes.first().copied().unwrap_or_default()) % reply.len();
    let truncated = decodes_like_reference(selector, &generator::bulk_string(&reply[..end]));
    assert_eq!(truncated, 0, "the reply is truncated");
}

/// Compares both decoders, and returns the number of operations that have a decision or an error from Redis.
fn decodes_like_reference(selector: u8, resp: &[u8]) -> usize {
    // An error reply of Redis is no reply of the script.
    let value = parse_redis_value(resp).and_then(Value::extract_error);
    let Ok(value) = value else { return 0 };
    let operations = operations(selector);
    let acquires: Vec<bool> = operations
        .iter()
        .map(|operation| matches!(operation, Operation::Acquire(_)))
        .collect();
    let call = Call::new(operations, None);
    let counts = call.charges();
    let reference = ReferenceDecoder::new(&value, counts.iter().sum());
    let Some(answers) = call.decode(&value) else {
        assert!(reference.is_none());
        return 0;
    };
    let mut reference = reference.expect("the reference decoder accepts the reply too");
    let mut decoded = 0;
    for ((answer, charges), acquires) in answers.into_iter().zip(counts).zip(acquires) {
        let result = match &answer {
            Answer::Decision(decision) => Ok(Expected::from_decision(decision)),
            Answer::Failure => Err(NoDecision::Failed),
            Answer::Malformed => Err(NoDecision::Malformed),
        };
        assert_eq!(result, reference.operation(charges, acquires));
        match answer {
            Answer::Decision(decision) => expected::is_usable(decision),
            Answer::Failure => {}
            Answer::Malformed => continue,
        }
        decoded += 1;
    }
    decoded
}

/// One operation or several, of one charge or several, of every algorithm.
fn operations(selector: u8) -> Vec<Operation> {
    let quota = Quota::per_minute(10);
    let algorithms = [
        TokenBucket::new(quota).to_any(),
        LeakyBucket::new(quota).to_any(),
        FixedWindow::new(quota).to_any(),
        SlidingLog::new(quota).to_any(),
        SlidingCounter::new(quota).to_any(),
    ];
    let charge = |index: u8| {
        let algorithm = algorithms[usize::from(index) % algorithms.len()];
        let charge = Charge::new(Limit::new("user", algorithm), Key::named("user", index));
        if index % 4 == 3 { charge.shadow() } else { charge }
    };
    let some = |count: u8| (0..count).map(|index| charge(selector / 16 + index));
    let charges = |count| fuzzing::charges(some(count));
    let receipt = |count| fuzzing::receipt(some(count));
    match selector % 8 {
        0 => vec![Operation::Acquire(charges(1))],
        1 => vec![Operation::Peek(charges(2)), Operation::Acquire(charges(1))],
        2 => vec![Operation::Acquire(charges(3))],
        3 => vec![Operation::Acquire(charges(1)), Operation::Acquire(charges(2))],
        4 => vec![Operation::Acquire(charges(1)), Operation::Refund(receipt(2))],
        5 => vec![Operation::Settle(receipt(1).settled(7)), Operation::Acquire(charges(2))],
        6 => vec![Operation::Reset(charges(2)), Operation::Acquire(charges(1))],
        _ => vec![Operation::Acquire(charges(0))],
    }
}
