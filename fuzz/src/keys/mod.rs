//! Redis keys: no two identities share a key, and a key can be parsed back into its limit and identity.
//!
//! An input is one charge or two, separated by an empty line. The first line of a charge is its limit, every other line a part of
//! its identity.

mod identity;
mod parsed_key;

use std::{str::Lines, time::Duration};

use tollgate::{
    Algorithm, AnyAlgorithm, Charge, FixedWindow, Key, LeakyBucket, Limit, Operation, Quota, SlidingCounter,
    SlidingLog, TokenBucket,
    fuzzing::{Call, are_one_limit, redis_key, shape, share_state},
};

use self::{identity::Part, parsed_key::ParsedKey};

/// Checks one charge or two.
pub fn keys(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let mut charges = text.split("\n\n").map(|charge| ParsedCharge::parse(charge.lines()));
    let (Some(one), other) = (charges.next(), charges.next()) else {
        return;
    };
    one.round_trips();
    if let Some(other) = other {
        other.round_trips();
        one.shares_state_only_if_equal(&other);
    }
}

struct ParsedCharge {
    limit: Limit,
    key: Key,
    identity: Vec<Part>,
}

impl ParsedCharge {
    fn parse(mut lines: Lines<'_>) -> Self {
        let limit = limit(lines.next().unwrap_or_default());
        let identity = identity::parse(&mut lines);
        let key = identity::key(&identity);
        Self { limit, key, identity }
    }

    fn charge(&self) -> Charge {
        Charge::new(self.limit.clone(), self.key.clone())
    }

    fn redis_key(&self) -> String {
        redis_key(&self.charge())
    }

    /// The key can be parsed back into the limit and every part of the identity.
    fn round_trips(&self) {
        let key = self.redis_key();
        let call = Call::new(vec![Operation::Acquire(self.charge().into())], None);
        assert_eq!(call.key(1).as_ref(), Some(&key));
        let parsed = ParsedKey::parse(&key).unwrap_or_else(|| panic!("{key} cannot be parsed"));
        assert_eq!(parsed.limit, shape(&self.limit));
        assert_eq!(parsed.identity, self.key.as_str());
        // Verbatim text has no parts.
        if self.identity.iter().all(Part::is_from_extractor) {
            assert!(parsed.has_parts(&self.identity), "{key} is not {:?}", self.identity);
            let is_safe = |byte: u8| byte.is_ascii_graphic() && !b"{}".contains(&byte);
            assert!(key.bytes().all(is_safe), "{key}");
        }
    }

    /// Two charges share a key in Redis exactly if they share state in memory, which they do exactly if limit and identity are
    /// equal.
    fn shares_state_only_if_equal(&self, other: &Self) {
        let shared = share_state(&self.charge(), &other.charge());
        assert_eq!(self.redis_key() == other.redis_key(), shared);
        let are_from_extractors = |parts: &[Part]| parts.iter().all(Part::is_from_extractor);
        if are_from_extractors(&self.identity) && are_from_extractors(&other.identity) {
            let same_limit = are_one_limit(&self.limit, &other.limit);
            assert_eq!(shared, same_limit && self.identity == other.identity);
        }
    }
}

/// A limit with the algorithm of the first letter and the name that follows.
fn limit(line: &str) -> Limit {
    let allowed = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.-".contains(byte);
    let name: String = line.bytes().skip(1).filter(allowed).take(64).map(char::from).collect();
    let name = if name.is_empty() { "limit" } else { &name };
    Limit::new(name, algorithm(line.bytes().next().unwrap_or_default()))
}

fn algorithm(kind: u8) -> AnyAlgorithm {
    let quota = |micros| Quota::new(10, Duration::from_micros(micros));
    let [short, long] = [quota(60), quota(600)];
    match kind % 10 {
        0 => TokenBucket::new(short).to_any(),
        1 => TokenBucket::new(long).to_any(),
        2 => LeakyBucket::new(short).to_any(),
        3 => FixedWindow::new(short).to_any(),
        4 => FixedWindow::new(short).anchored().to_any(),
        5 => FixedWindow::new(long).to_any(),
        6 => SlidingLog::new(short).to_any(),
        7 => SlidingCounter::new(short).to_any(),
        8 => SlidingCounter::new(short).sub_windows(60).to_any(),
        _ => SlidingCounter::new(long).sub_windows(60).to_any(),
    }
}
