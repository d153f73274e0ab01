//! Operations as a command: what lua/README.md documents, written out.

use std::hash::BuildHasher;

use deadpool_redis::redis::{Arg, Cmd};
use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::{packed::Packed, program};
use crate::{
    algorithm::{Mark, Rule},
    charge::Charge,
    operation::Operation,
    quota::Cost,
    receipt::{Charged, Receipt},
    time::Micros,
};

/// What every key begins with.
#[derive(Clone, Debug)]
pub(crate) struct Prefix(pub(crate) Box<str>);

impl Prefix {
    /// The key in Redis of what a charge counts.
    pub(crate) fn key(&self, charge: &Charge) -> String {
        let mut key = String::new();
        self.write_key(charge, &mut key);
        key
    }

    /// Writes the key in Redis of what a charge counts.
    fn write_key(&self, charge: &Charge, key: &mut String) {
        let (limit, identity) = (&charge.limit, charge.key.as_str());
        let aligned = looks_anchored(limit.rule(), identity);
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

/// Whether an aligned window's identity would read like an anchored window's key, or like one that says so.
fn looks_anchored(rule: &Rule, identity: &str) -> bool {
    let aligned = matches!(rule, Rule::FixedWindow(rule) if !rule.anchored);
    aligned && ["anchored:", "aligned:"].iter().any(|word| identity.starts_with(word))
}

/// The EVALSHA of several operations, at a named time or, without one, on Redis's own clock.
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
        None => arguments.word("*"),
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

/// The key that a call knows by this number.
pub(crate) fn key(command: &Cmd, number: u64) -> Option<String> {
    match command.args_iter().nth(2 + usize::try_from(number).ok()?) {
        Some(Arg::Simple(key)) if number > 0 => Some(String::from_utf8_lossy(key).into_owned()),
        _ => None,
    }
}

/// What a call is made of. Operations refer to keys and rules by number, so that each of them travels once.
#[derive(Default)]
struct Call<'a> {
    keys: Vec<&'a Charge>,
    numbers: HashTable<u32>,
    hasher: RandomState,
    rules: Vec<&'a Rule>,
    packed_rules: Packed,
    packed_operations: Packed,
}

impl<'a> Call<'a> {
    fn operation(&mut self, operation: &'a Operation) {
        match operation {
            Operation::Acquire(charges) => {
                self.packed_operations.word("acquire").number(charges.len() as u64);
                for charge in charges.as_slice() {
                    self.charge(charge).number(charge.cost).number(charge.shadow);
                }
            }
            Operation::Refund(receipt) => self.settle(receipt, |_| 0),
            Operation::Settle(receipt) => self.settle(receipt, Charged::to),
            Operation::Reset(charges) => {
                self.packed_operations.word("reset").number(charges.len() as u64);
                for charge in charges.as_slice() {
                    self.charge(charge);
                }
            }
        }
    }

    fn settle(&mut self, receipt: &'a Receipt, to: fn(&Charged) -> Cost) {
        let charged = receipt.charged();
        self.packed_operations.word("settle").number(charged.len() as u64);
        for charged in charged {
            let Mark { at, place, unit } = charged.mark;
            let packed = self.charge(&charged.charge).number(charged.charge.cost);
            packed.number(at).number(place).number(unit).number(to(charged));
        }
    }

    /// A charge's key and rule, by their numbers.
    fn charge(&mut self, charge: &'a Charge) -> &mut Packed {
        let (key, rule) = (self.key(charge), self.rule(charge.limit.rule()));
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

    fn rule(&mut self, rule: &'a Rule) -> u32 {
        let known = self.rules.iter().position(|&known| known == rule);
        let index = known.unwrap_or_else(|| {
            self.rules.push(rule);
            pack_rule(&mut self.packed_rules, rule);
            self.rules.len() - 1
        });
        index as u32 + 1
    }
}

fn pack_rule(packed: &mut Packed, rule: &Rule) {
    packed.word(rule.name());
    match rule {
        Rule::TokenBucket(rule) => {
            packed
                .number(rule.bucket.capacity)
                .number(rule.bucket.unit)
                .number(rule.bucket.drain);
        }
        Rule::LeakyBucket(rule) => {
            packed
                .number(rule.bucket.capacity)
                .number(rule.bucket.unit)
                .number(rule.bucket.drain);
            packed.number(rule.queue).number_or_none(rule.max_wait);
        }
        Rule::FixedWindow(rule) => {
            packed
                .number(rule.quota.limit())
                .number(rule.quota.window_micros())
                .number(rule.anchored);
        }
        Rule::SlidingLog(rule) => {
            packed.number(rule.quota.limit()).number(rule.quota.window_micros());
        }
        Rule::SlidingCounter(rule) => {
            packed
                .number(rule.quota.limit())
                .number(rule.width)
                .number(rule.buckets);
        }
    }
}
