//! A door for `fuzz/`: what its properties look at inside of the crate. It is hidden, and no part of the API.
#![allow(missing_docs, missing_debug_implementations, reason = "nobody else is to use it")]

use deadpool_redis::redis::{Cmd, Value};

use crate::{
    algorithm::Mark,
    charge::{Charge, Charges},
    decision::Decision,
    identity,
    key::Key,
    limit::Limit,
    operation::Operation,
    receipt::{Charged, Receipt},
    store::redis::wire::{
        Prefix, Reply,
        call::{self, encode},
    },
    time::Micros,
};

fn prefix() -> Prefix {
    Prefix("rate_limit".into())
}

/// The key in Redis.
pub fn redis_key(charge: &Charge) -> String {
    prefix().key(charge)
}

/// Whether both are charged to one key under one limit, in memory.
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
    identity::digest(value)
}

pub fn key_of_bytes(label: &str, value: &[u8]) -> Key {
    Key::of_bytes(label, value)
}

/// What stands in for a key that is missing.
pub fn default_key(word: &str) -> Key {
    Key::stand_in(word)
}

pub fn route_key(template: &str) -> Key {
    Key::route(template)
}

pub fn joined_key(keys: &[Key]) -> Key {
    Key::joined(keys)
}

/// As they are, though two be of one key.
pub fn charges(charges: impl IntoIterator<Item = Charge>) -> Charges {
    Charges::apart(charges)
}

/// For charges that left no trace.
pub fn receipt(charges: impl IntoIterator<Item = Charge>) -> Receipt {
    let charged = charges.into_iter().map(|charge| Charged::new(charge, Mark::default()));
    Receipt::apart(charged.collect())
}

/// Where each charge left its trace, if it did: when, and in which place.
pub fn marks(decision: &Decision) -> Vec<Option<[Micros; 2]>> {
    let marks = decision.tiers().iter().map(|tier| tier.mark);
    marks.map(|mark| mark.map(|mark| [mark.at, mark.place])).collect()
}

/// What a decision says later, if nothing has happened since.
pub fn at(mut decision: Decision, now: Micros) -> Decision {
    decision.follow(&Decision::exempt(now));
    decision
}

/// Operations that are sent to Redis together.
pub struct Call {
    operations: Vec<Operation>,
    command: Cmd,
}

/// What one of them was answered.
pub enum Answer {
    Decision(Decision),
    /// An error in Redis's own words.
    Failure,
    Nonsense,
}

impl Call {
    pub fn new(operations: Vec<Operation>, now: Option<Micros>) -> Self {
        let command = encode(operations.iter(), &prefix(), now);
        Self { operations, command }
    }

    /// The key of this number.
    pub fn key(&self, number: u64) -> Option<String> {
        call::key(&self.command, number)
    }

    /// How many charges each of them has.
    pub fn charges(&self) -> Vec<usize> {
        let operations = self.operations.iter();
        operations.map(|operation| operation.charges().count()).collect()
    }

    /// An answer to each, up to the first that makes no sense; nothing, if the reply makes none at all.
    pub fn decode(self, reply: &Value) -> Option<Vec<Answer>> {
        let charges = self.charges().iter().sum();
        let mut reply = Reply::new(reply, charges, &self.command).ok()?;
        let mut answers = Vec::new();
        for operation in self.operations {
            answers.push(match reply.decision(operation) {
                Ok(Ok(decision)) => Answer::Decision(decision),
                Ok(Err(_)) => Answer::Failure,
                Err(_) => Answer::Nonsense,
            });
            if let Some(Answer::Nonsense) = answers.last() {
                break;
            }
        }
        Some(answers)
    }
}
