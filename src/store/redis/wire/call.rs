//! Encodes operations as a command, as lua/README.md documents it.

use std::hash::BuildHasher;

use deadpool_redis::redis::{Arg, Cmd};
use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::{packed::Packed, program};
use crate::{
    algorithm::{AnyAlgorithm, Mark},
    charge::Charge,
    operation::Operation,
    quota::Cost,
    receipt::{Charged, Receipt},
    time::Micros,
};

/// The prefix of every key.
#[derive(Clone, Debug)]
pub(crate) struct Prefix(pub(crate) Box<str>);

impl Prefix {
    /// The Redis key of a charge.
    pub(crate) fn key(&self, charge: &Charge) -> String {
        let mut key = String::new();
        self.write_key(charge, &mut key);
        key
    }

    /// Writes the Redis key of a charge into a buffer, whose content it replaces.
    fn write_key(&self, charge: &Charge, key: &mut String) {
        let (limit, identity) = (&charge.limit, charge.key.as_str());
        let aligned = looks_anchored(limit.algorithm(), identity);
        let pieces = [
            &*self.0,
            ":",
            limit.shape(),
            if aligned { ":aligned:" } else { ":" },
            identity,
        ];
        key.clear();
        pieces.iter().for_each(|piece| key.push_str(piece));
    }
}

/// Whether an aligned window needs a marker in its key, since its identity looks like an anchored window's key or like the
/// marker.
fn looks_anchored(rule: &AnyAlgorithm, identity: &str) -> bool {
    let aligned = matches!(rule, AnyAlgorithm::FixedWindow(rule) if !rule.anchored);
    aligned
        && ["anchored:", "aligned:"]
            .iter()
            .any(|marker| identity.starts_with(marker))
}

/// The EVALSHA command of several operations, at the given time or, without one, on the clock of Redis.
pub(crate) fn encode<'a>(
    operations: impl ExactSizeIterator<Item = &'a Operation>,
    prefix: &Prefix,
    now: Option<Micros>,
) -> Cmd {
    let count = operations.len() as u64;
    let mut call = Call::default();
    operations.for_each(|operation| call.operation(operation));
    let Call {
        keys,
        rules,
        packed_rules,
        packed_operations,
        ..
    } = call;
    let mut arguments = Packed::default();
    match now {
        Some(now) => arguments.number(now),
        None => arguments.string("*"),
    };
    arguments.number(rules.len() as u64).append(&packed_rules);
    arguments.number(count).append(&packed_operations);

    let mut command = Cmd::with_capacity(4 + keys.len(), 128 + 96 * keys.len());
    command.arg("EVALSHA").arg(program::sha()).arg(keys.len());
    let mut key = String::new();
    for charge in keys {
        prefix.write_key(charge, &mut key);
        command.arg(&key);
    }
    command.arg(arguments.finish());
    command
}

/// The key with this number in a call.
pub(crate) fn key(command: &Cmd, number: u64) -> Option<String> {
    match command.args_iter().nth(2 + usize::try_from(number).ok()?) {
        Some(Arg::Simple(key)) if number > 0 => Some(String::from_utf8_lossy(key).into_owned()),
        _ => None,
    }
}

/// The parts of a call. Operations refer to keys and algorithms by number, so that each of them is sent once.
#[derive(Default)]
struct Call<'a> {
    keys: Vec<&'a Charge>,
    numbers: HashTable<u32>,
    hasher: RandomState,
    rules: Vec<&'a AnyAlgorithm>,
    packed_rules: Packed,
    packed_operations: Packed,
}

impl<'a> Call<'a> {
    fn operation(&mut self, operation: &'a Operation) {
        match operation {
            Operation::Acquire(charges) => {
                self.packed_operations.string("acquire").number(charges.len() as u64);
                for charge in charges.as_slice() {
                    self.charge(charge).number(charge.cost).number(charge.shadow);
                }
            }
            Operation::Refund(receipt) => self.settle(receipt, |_| 0),
            Operation::Settle(receipt) => self.settle(receipt, Charged::to),
            Operation::Reset(charges) => {
                self.packed_operations.string("reset").number(charges.len() as u64);
                for charge in charges.as_slice() {
                    self.charge(charge);
                }
            }
        }
    }

    fn settle(&mut self, receipt: &'a Receipt, to: fn(&Charged) -> Cost) {
        let charged = receipt.charged();
        self.packed_operations.string("settle").number(charged.len() as u64);
        for charged in charged {
            let Mark { at, position, unit } = charged.mark;
            let packed = self.charge(&charged.charge).number(charged.charge.cost);
            packed.number(at).number(position).number(unit).number(to(charged));
        }
    }

    /// Writes the numbers of a charge's key and algorithm.
    fn charge(&mut self, charge: &'a Charge) -> &mut Packed {
        let (key, rule) = (self.key(charge), self.rule(charge.limit.algorithm()));
        self.packed_operations.number(key).number(rule)
    }

    fn key(&mut self, charge: &'a Charge) -> u32 {
        let (keys, hasher) = (&self.keys, &self.hasher);
        let hash = |charge: &Charge| hasher.hash_one((charge.limit.shape_hash(), charge.key.as_str()));
        let charge_of = |number: u32| keys[number as usize - 1];
        let known = self
            .numbers
            .find(hash(charge), |&number| charge_of(number).counts_as(charge));
        if let Some(&number) = known {
            return number;
        }
        let number = keys.len() as u32 + 1;
        self.numbers
            .insert_unique(hash(charge), number, |&number| hash(charge_of(number)));
        self.keys.push(charge);
        number
    }

    fn rule(&mut self, rule: &'a AnyAlgorithm) -> u32 {
        let known = self.rules.iter().position(|&known| known == rule);
        let index = known.unwrap_or_else(|| {
            self.rules.push(rule);
            pack_rule(&mut self.packed_rules, rule);
            self.rules.len() - 1
        });
        index as u32 + 1
    }
}

fn pack_rule(packed: &mut Packed, rule: &AnyAlgorithm) {
    packed.string(rule.name());
    match rule {
        AnyAlgorithm::TokenBucket(rule) => {
            packed
                .number(rule.bucket.capacity)
                .number(rule.bucket.unit)
                .number(rule.bucket.drain);
        }
        AnyAlgorithm::LeakyBucket(rule) => {
            packed
                .number(rule.bucket.capacity)
                .number(rule.bucket.unit)
                .number(rule.bucket.drain);
            packed.number(rule.queue).number_or_none(rule.max_wait);
        }
        AnyAlgorithm::FixedWindow(rule) => {
            packed
                .number(rule.quota.limit())
                .number(rule.quota.window_micros())
                .number(rule.anchored);
        }
        AnyAlgorithm::SlidingLog(rule) => {
            packed.number(rule.quota.limit()).number(rule.quota.window_micros());
        }
        AnyAlgorithm::SlidingCounter(rule) => {
            packed
                .number(rule.quota.limit())
                .number(rule.width)
                .number(rule.buckets);
        }
    }
}
