//! Charges, two at a time, and what can be told of them.

use std::{str::Lines, time::Duration};

use tollgate::{
    Algorithm, Charge, FixedWindow, Key, LeakyBucket, Limit, Operation, Quota, Rule, SlidingCounter, SlidingLog,
    TokenBucket,
    fuzzing::{Call, are_one_limit, redis_key, shape, share_state},
};

use super::{
    identity::{self, Part},
    taken_apart::TakenApart,
};

/// Charges, as text.
pub fn keys(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut charges = text.split("\n\n").map(|charge| Charged::read(charge.lines()));
    let (Some(one), other) = (charges.next(), charges.next()) else {
        return;
    };
    one.can_be_told();
    if let Some(other) = other {
        other.can_be_told();
        one.meets_only_itself(&other);
    }
}

struct Charged {
    limit: Limit,
    key: Key,
    identity: Vec<Part>,
}

impl Charged {
    fn read(mut lines: Lines<'_>) -> Self {
        let limit = limit(lines.next().unwrap_or_default());
        let identity = identity::read(&mut lines);
        let key = identity::key(&identity);
        Self { limit, key, identity }
    }

    fn charge(&self) -> Charge {
        Charge::new(self.limit.clone(), self.key.clone())
    }

    fn redis_key(&self) -> String {
        redis_key(&self.charge())
    }

    /// Whoever reads the key finds the limit and every part of the identity.
    fn can_be_told(&self) {
        let key = self.redis_key();
        let call = Call::new(vec![Operation::Acquire(self.charge().into())], None);
        assert_eq!(call.key(1).as_ref(), Some(&key));
        let told = TakenApart::of(&key).unwrap_or_else(|| panic!("{key} cannot be told"));
        assert_eq!(told.limit, shape(&self.limit));
        assert_eq!(told.identity, self.key.as_str());
        // Text of one's own is not made of parts.
        if self.identity.iter().all(Part::is_made_by_extractors) {
            assert!(told.is(&self.identity), "{key} is not {:?}", self.identity);
            let harmless = |byte: u8| byte.is_ascii_graphic() && !b"{}".contains(&byte);
            assert!(key.bytes().all(harmless), "{key}");
        }
    }

    /// Two are counted together in Redis exactly when they are in memory.
    fn meets_only_itself(&self, other: &Self) {
        let together = share_state(&self.charge(), &other.charge());
        assert_eq!(self.redis_key() == other.redis_key(), together);
        let are_made = |parts: &[Part]| parts.iter().all(Part::is_made_by_extractors);
        if are_made(&self.identity) && are_made(&other.identity) {
            let same_limit = are_one_limit(&self.limit, &other.limit);
            assert_eq!(together, same_limit && self.identity == other.identity);
        }
    }
}

/// A limit of this name, the first letter of which says what kind it is.
fn limit(line: &str) -> Limit {
    let allowed = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.-".contains(byte);
    let name: String = line.bytes().skip(1).filter(allowed).take(64).map(char::from).collect();
    let name = if name.is_empty() { "limit" } else { &name };
    Limit::new(name, rule(line.bytes().next().unwrap_or_default()))
}

fn rule(kind: u8) -> Rule {
    let quota = |micros| Quota::new(10, Duration::from_micros(micros));
    let [short, long] = [quota(60), quota(600)];
    match kind % 10 {
        0 => TokenBucket::new(short).rule(),
        1 => TokenBucket::new(long).rule(),
        2 => LeakyBucket::new(short).rule(),
        3 => FixedWindow::new(short).rule(),
        4 => FixedWindow::new(short).anchored().rule(),
        5 => FixedWindow::new(long).rule(),
        6 => SlidingLog::new(short).rule(),
        7 => SlidingCounter::new(short).rule(),
        8 => SlidingCounter::new(short).buckets(60).rule(),
        _ => SlidingCounter::new(long).buckets(60).rule(),
    }
}
