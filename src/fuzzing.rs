//! Access to internals for the fuzz targets in `fuzz/` and a benchmark in `benches/`. It is hidden, and not part of the API.
#![allow(
    missing_docs,
    missing_debug_implementations,
    reason = "only the fuzz targets and a benchmark use it"
)]

use deadpool_redis::redis::{Cmd, Value};

use crate::{
    algorithm::Mark,
    charge::{Charge, Charges},
    decision::Decision,
    key::Key,
    key_encoding,
    limit::Limit,
    operation::Operation,
    receipt::{Charged, Receipt},
    store::redis::protocol::{
        OperationError, Prefix, Reply,
        encode::{self, CallPart, encode},
        script,
    },
    time::Micros,
};

/// The script that the Redis store runs.
pub const SCRIPT: &str = script::SOURCE;

fn prefix() -> Prefix {
    Prefix("rate_limit".into())
}

/// The key in Redis.
pub fn redis_key(charge: &Charge) -> String {
    prefix().key(charge)
}

/// Whether the memory store counts both in one state.
pub fn share_state(one: &Charge, other: &Charge) -> bool {
    one.counts_as(other)
}

pub fn are_one_limit(one: &Limit, other: &Limit) -> bool {
    one.counts_as(other)
}

/// The limit's part of its keys.
pub fn shape(limit: &Limit) -> &str {
    limit.shape()
}

pub fn digest(value: &[u8]) -> String {
    key_encoding::digest(value)
}

pub fn key_of_bytes(label: &str, value: &[u8]) -> Key {
    Key::of_bytes(label, value)
}

pub fn default_key(name: &str) -> Key {
    Key::default_key(name)
}

pub fn route_key(template: &str) -> Key {
    Key::route(template)
}

pub fn joined_key(keys: &[Key]) -> Key {
    Key::joined(keys)
}

/// Charges that are not checked for duplicate keys.
pub fn charges(charges: impl IntoIterator<Item = Charge>) -> Charges {
    Charges::from_distinct(charges)
}

/// A receipt with default positions.
pub fn receipt(charges: impl IntoIterator<Item = Charge>) -> Receipt {
    let charged = charges
        .into_iter()
        .map(|charge| Charged::new(charge, Mark::new(0, 0, 0), false));
    Receipt::from_charged(charged.collect())
}

/// The time and position of each charge that was applied.
pub fn marks(decision: &Decision) -> Vec<Option<[Micros; 2]>> {
    let marks = decision.tiers().iter().map(|tier| tier.mark);
    marks.map(|mark| mark.map(|mark| [mark.at, mark.position])).collect()
}

/// A decision advanced to a later time without other charges.
pub fn at(mut decision: Decision, now: Micros) -> Decision {
    decision.apply_settled(&Decision::exempt(now));
    decision
}

/// A batch of operations that is sent to Redis in one call.
pub struct Call {
    operations: Vec<Operation>,
    command: Cmd,
}

/// The decoded reply to one operation.
pub enum Answer {
    Decision(Decision),
    /// An error from Redis.
    Failure,
    /// Values that the script does not send.
    Malformed,
}

impl Call {
    pub fn new(operations: Vec<Operation>, now: Option<Micros>) -> Self {
        let command = encode(
            operations.iter().map(|operation| CallPart::Operation(operation, &[])),
            &prefix(),
            now,
        );
        Self { operations, command }
    }

    /// The key with this index.
    pub fn key(&self, index: u64) -> Option<String> {
        encode::key(&self.command, index)
    }

    /// The number of charges of each operation.
    pub fn charges(&self) -> Vec<usize> {
        let operations = self.operations.iter();
        operations.map(|operation| operation.charges().count()).collect()
    }

    /// An answer per operation; `None` if the frame of the reply is malformed.
    pub fn decode(self, reply: &Value) -> Option<Vec<Answer>> {
        let charges = self.charges().iter().sum();
        let mut reply = Reply::new(reply, charges, &self.command).ok()?;
        let answer = |operation| match reply.decision(operation) {
            Ok(decision) => Answer::Decision(decision),
            Err(OperationError::Server(_)) => Answer::Failure,
            Err(OperationError::Protocol(_)) => Answer::Malformed,
        };
        Some(self.operations.into_iter().map(answer).collect())
    }
}
