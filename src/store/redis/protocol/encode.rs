//! Encodes operations as a command, as lua/README.md documents it.

use std::{hash::BuildHasher, slice};

use deadpool_redis::redis::{Arg, Cmd};
use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::{msgpack::Writer, script};
use crate::{
    algorithm::{AnyAlgorithm, Mark},
    charge::Charge,
    clock::Clock,
    limit::Limit,
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
        let pieces = [&*self.0, ":", limit.shape(), marker(limit, identity), identity];
        key.clear();
        pieces.iter().for_each(|piece| key.push_str(piece));
    }
}

/// What precedes the identity: a marker if the identity looks like the rest of another limit's key, or like the marker.
fn marker(limit: &Limit, identity: &str) -> &'static str {
    let (first, is_more) = match identity.split_once(':') {
        Some((first, _)) => (first, true),
        None => (identity, false),
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_lease = || first.strip_prefix("lease").is_some_and(is_number);
    match limit.algorithm() {
        AnyAlgorithm::FixedWindow(window) if !window.anchored => match first {
            "anchored" | "aligned" if is_more => ":aligned:",
            _ => ":",
        },
        AnyAlgorithm::FixedWindow(_) | AnyAlgorithm::SlidingCounter(_) => ":",
        algorithm if (limit.configured_lease().is_some() && !algorithm.is_queueing()) || !is_more => ":",
        _ if first == "unleased" || is_lease() => ":unleased:",
        AnyAlgorithm::TokenBucket(_) | AnyAlgorithm::LeakyBucket(_) | AnyAlgorithm::SlidingLog(_) => ":",
    }
}

/// Encodes operations as calls.
pub(crate) struct CallEncoder {
    prefix: Prefix,
    /// The clock whose time calls contain; `None` for the clock of Redis.
    clock: Option<Clock>,
}

impl CallEncoder {
    pub(crate) fn new(prefix: Prefix, clock: Option<Clock>) -> Self {
        Self { prefix, clock }
    }

    pub(crate) fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// The Redis key of a charge.
    pub(crate) fn key(&self, charge: &Charge) -> String {
        self.prefix.key(charge)
    }

    pub(crate) fn encode<'a>(&self, parts: impl Iterator<Item = CallPart<'a>>) -> Cmd {
        let now = self.clock.as_ref().map(Clock::now);
        encode(parts, &self.prefix, now)
    }
}

/// What the script executes as an operation.
#[derive(Clone, Copy)]
pub(crate) enum CallPart<'a> {
    Operation(&'a Operation),
    /// Charges a lease if the acquire before was admitted.
    Lease(&'a Charge),
    /// Charges a lease.
    Renewal(&'a Charge),
}

impl<'a> CallPart<'a> {
    /// Its charges, in order.
    pub(crate) fn charges(self) -> impl Iterator<Item = &'a Charge> {
        let (operation, lease) = match self {
            Self::Operation(operation) => (Some(operation), None),
            Self::Lease(charge) | Self::Renewal(charge) => (None, Some(charge)),
        };
        operation.into_iter().flat_map(Operation::charges).chain(lease)
    }
}

/// The EVALSHA command of several operations, at the given time or, without one, on the clock of Redis.
pub(crate) fn encode<'a>(parts: impl Iterator<Item = CallPart<'a>>, prefix: &Prefix, now: Option<Micros>) -> Cmd {
    let (mut call, mut count) = (Call::default(), 0_u64);
    for part in parts {
        call.part(part);
        count += 1;
    }
    let Call {
        keys,
        algorithms,
        algorithm_values,
        operation_values,
        ..
    } = call;
    let mut arguments = Writer::default();
    match now {
        Some(now) => arguments.number(now),
        None => arguments.string("*"),
    };
    arguments.number(algorithms.len() as u64).append(&algorithm_values);
    arguments.number(count).append(&operation_values);

    let mut command = Cmd::with_capacity(4 + keys.len(), 128 + 96 * keys.len());
    command.arg("EVALSHA").arg(script::sha()).arg(keys.len());
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
    algorithms: Vec<&'a AnyAlgorithm>,
    algorithm_values: Writer,
    operation_values: Writer,
}

impl<'a> Call<'a> {
    fn part(&mut self, part: CallPart<'a>) {
        match part {
            CallPart::Operation(operation) => self.operation(operation),
            CallPart::Lease(charge) => self.group("lease", slice::from_ref(charge)),
            CallPart::Renewal(charge) => self.group("acquire", slice::from_ref(charge)),
        }
    }

    fn operation(&mut self, operation: &'a Operation) {
        match operation {
            Operation::Acquire(charges) => self.group("acquire", charges.as_slice()),
            Operation::Peek(charges) => self.group("peek", charges.as_slice()),
            Operation::Refund(receipt) => self.settle(receipt, |_| 0),
            Operation::Settle(receipt) => self.settle(receipt, Charged::to),
            Operation::Reset(charges) => {
                self.operation_values.string("reset").number(charges.len() as u64);
                for charge in charges.as_slice() {
                    self.charge(charge);
                }
            }
        }
    }

    fn group(&mut self, operation: &'static str, charges: &'a [Charge]) {
        self.operation_values.string(operation).number(charges.len() as u64);
        for charge in charges {
            self.charge(charge).number(charge.cost).number(charge.shadow);
        }
    }

    fn settle(&mut self, receipt: &'a Receipt, to: fn(&Charged) -> Cost) {
        let charged = receipt.charged();
        self.operation_values.string("settle").number(charged.len() as u64);
        for charged in charged {
            let Mark { at, position, unit } = charged.mark;
            let values = self.charge(&charged.charge).number(charged.charge.cost);
            values.number(at).number(position).number(unit).number(to(charged));
        }
    }

    /// Writes the numbers of a charge's key and algorithm.
    fn charge(&mut self, charge: &'a Charge) -> &mut Writer {
        let (key, algorithm) = (self.key(charge), self.algorithm(charge.limit.algorithm()));
        self.operation_values.number(key).number(algorithm)
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

    fn algorithm(&mut self, algorithm: &'a AnyAlgorithm) -> u32 {
        let known = self.algorithms.iter().position(|&known| known == algorithm);
        let index = known.unwrap_or_else(|| {
            self.algorithms.push(algorithm);
            write_algorithm(&mut self.algorithm_values, algorithm);
            self.algorithms.len() - 1
        });
        index as u32 + 1
    }
}

fn write_algorithm(values: &mut Writer, algorithm: &AnyAlgorithm) {
    values.string(algorithm.name());
    match algorithm {
        AnyAlgorithm::TokenBucket(algorithm) => {
            values
                .number(algorithm.bucket.capacity)
                .number(algorithm.bucket.unit)
                .number(algorithm.bucket.drain);
        }
        AnyAlgorithm::LeakyBucket(algorithm) => {
            values
                .number(algorithm.bucket.capacity)
                .number(algorithm.bucket.unit)
                .number(algorithm.bucket.drain);
            values.number(algorithm.queue).number_or_none(algorithm.max_wait);
        }
        AnyAlgorithm::FixedWindow(algorithm) => {
            values
                .number(algorithm.quota.limit())
                .number(algorithm.quota.window_micros())
                .number(algorithm.anchored);
        }
        AnyAlgorithm::SlidingLog(algorithm) => {
            values
                .number(algorithm.quota.limit())
                .number(algorithm.quota.window_micros());
        }
        AnyAlgorithm::SlidingCounter(algorithm) => {
            values
                .number(algorithm.quota.limit())
                .number(algorithm.width)
                .number(algorithm.sub_windows);
        }
    }
}
