//! Encodes operations as a command, as lua/README.md documents it.

use std::{hash::BuildHasher, mem, slice};

use deadpool_redis::redis::{Arg, Cmd};
use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::{msgpack::Writer, script};
use crate::{
    algorithm::{AnyAlgorithm, Holder},
    charge::Charge,
    clock::Clock,
    limit::Limit,
    operation::Operation,
    quota::Cost,
    receipt::{Charged, Receipt},
    store::redis::holder::SlotCall,
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
        AnyAlgorithm::FixedWindow(_) | AnyAlgorithm::SlidingCounter(_) | AnyAlgorithm::Concurrency(_) => ":",
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
    /// With a call for each charge of a concurrency limit that it acquires or releases.
    Operation(&'a Operation, &'a [SlotCall]),
    /// Charges a lease if the acquire before was admitted.
    Lease(&'a Charge),
    /// Charges a lease.
    Renewal(&'a Charge),
    /// Renews the slots that this node holds.
    SlotRenewal(&'a SlotCall),
}

impl<'a> CallPart<'a> {
    /// Its charges, in order.
    pub(crate) fn charges(self) -> impl Iterator<Item = &'a Charge> {
        let (operation, lease) = match self {
            Self::Operation(operation, _) => (Some(operation), None),
            Self::Lease(charge) | Self::Renewal(charge) => (None, Some(charge)),
            Self::SlotRenewal(call) => (None, Some(call.charge())),
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
    /// With the sender of the call, which is the same for all but concurrency limits.
    algorithms: Vec<(&'a AnyAlgorithm, Holder)>,
    algorithm_values: Writer,
    operation_values: Writer,
}

impl<'a> Call<'a> {
    fn part(&mut self, part: CallPart<'a>) {
        match part {
            CallPart::Operation(operation, calls) => self.operation(operation, calls),
            CallPart::Lease(charge) => self.group("lease", slice::from_ref(charge), &[]),
            CallPart::Renewal(charge) => self.group("acquire", slice::from_ref(charge), &[]),
            CallPart::SlotRenewal(call) => {
                self.operation_values.string("renew").number(1u64);
                self.charge(call.charge(), call.sender());
            }
        }
    }

    fn operation(&mut self, operation: &'a Operation, calls: &[SlotCall]) {
        match operation {
            Operation::Acquire(charges) => self.group("acquire", charges.as_slice(), calls),
            Operation::Peek(charges) => self.group("peek", charges.as_slice(), calls),
            Operation::Refund(receipt) => self.settle(receipt, calls, |_| 0),
            Operation::Settle(receipt) => self.settle(receipt, calls, Charged::to),
            Operation::Reset(charges) => {
                self.operation_values.string("reset").number(charges.len() as u64);
                for charge in charges.as_slice() {
                    self.charge(charge, Holder::LOCAL);
                }
            }
        }
    }

    fn group(&mut self, operation: &'static str, charges: &'a [Charge], calls: &[SlotCall]) {
        self.operation_values.string(operation).number(charges.len() as u64);
        let mut calls = calls.iter();
        for charge in charges {
            let holder = sender(charge, &mut calls);
            self.charge(charge, holder).number(charge.cost).number(charge.shadow);
        }
    }

    fn settle(&mut self, receipt: &'a Receipt, calls: &[SlotCall], to: fn(&Charged) -> Cost) {
        let charged = receipt.charged();
        self.operation_values.string("settle").number(charged.len() as u64);
        let mut calls = calls.iter();
        for charged in charged {
            let [at, position, unit] = charged.mark.to_numbers();
            let mut holder = sender(&charged.charge, &mut calls);
            let position = match charged.charge.holds_slots() {
                false => Some(position),
                // Not in the rule, which releases of many keys share then.
                true => mem::take(&mut holder.made_at),
            };
            let values = self.charge(&charged.charge, holder).number(charged.charge.cost);
            values
                .number(at)
                .number_or_none(position)
                .number(unit)
                .number(to(charged));
        }
    }

    /// Writes the numbers of a charge's key and rule.
    fn charge(&mut self, charge: &'a Charge, holder: Holder) -> &mut Writer {
        let (key, algorithm) = (self.key(charge), self.algorithm(charge.limit.algorithm(), holder));
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

    fn algorithm(&mut self, algorithm: &'a AnyAlgorithm, holder: Holder) -> u32 {
        let known = self.algorithms.iter().position(|&known| known == (algorithm, holder));
        let index = known.unwrap_or_else(|| {
            self.algorithms.push((algorithm, holder));
            write_algorithm(&mut self.algorithm_values, algorithm, holder);
            self.algorithms.len() - 1
        });
        index as u32 + 1
    }
}

/// What a call says about its sender; the same for all charges but those of concurrency limits.
fn sender(charge: &Charge, calls: &mut slice::Iter<'_, SlotCall>) -> Holder {
    let call = if charge.holds_slots() { calls.next() } else { None };
    call.map_or(Holder::LOCAL, SlotCall::sender)
}

fn write_algorithm(values: &mut Writer, algorithm: &AnyAlgorithm, holder: Holder) {
    values.string(algorithm.name());
    match algorithm {
        AnyAlgorithm::TokenBucket(algorithm) => {
            values
                .number(algorithm.bucket.capacity)
                .number(algorithm.bucket.unit.get())
                .number(algorithm.bucket.drain.get());
        }
        AnyAlgorithm::LeakyBucket(algorithm) => {
            values
                .number(algorithm.bucket.capacity)
                .number(algorithm.bucket.unit.get())
                .number(algorithm.bucket.drain.get());
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
        AnyAlgorithm::Concurrency(algorithm) => {
            values
                .number(algorithm.limit)
                .number(algorithm.time_to_live)
                .number(algorithm.retry_after);
            values.number(holder.id).number(holder.epoch).number(holder.base);
            values.number_or_none(holder.made_at);
        }
    }
}
