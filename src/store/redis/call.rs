//! An operation as a command: what lua/README.md documents, written out.

use deadpool_redis::redis::{Cmd, cmd};

use super::program;
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
pub(super) struct Prefix(pub(super) Box<str>);

impl Prefix {
    /// The key in Redis of what a charge counts.
    pub(super) fn key(&self, charge: &Charge) -> String {
        let (limit, identity) = (&charge.limit, charge.key.as_str());
        match looks_anchored(limit.rule(), identity) {
            true => [&*self.0, limit.shape(), "aligned", identity].join(":"),
            false => [&*self.0, limit.shape(), identity].join(":"),
        }
    }
}

/// Whether an aligned window's identity would read like an anchored window's key, or like one that says so.
fn looks_anchored(rule: &Rule, identity: &str) -> bool {
    let aligned = matches!(rule, Rule::FixedWindow(rule) if !rule.anchored);
    aligned && ["anchored:", "aligned:"].iter().any(|word| identity.starts_with(word))
}

/// The EVALSHA of an operation, at a named time or, without one, on Redis's own clock.
pub(super) fn encode(operation: &Operation, prefix: &Prefix, now: Option<Micros>) -> Cmd {
    let mut command = cmd("EVALSHA");
    command.arg(program::sha()).arg(operation.charges().count());
    for charge in operation.charges() {
        command.arg(prefix.key(charge));
    }
    match now {
        Some(now) => command.arg(now),
        None => command.arg("*"),
    };
    command.arg(operation.charges().count());
    for charge in operation.charges() {
        rule(&mut command, charge.limit.rule());
    }
    command.arg(1);
    match operation {
        Operation::Acquire(charges) => acquire(&mut command, charges.as_slice()),
        Operation::Refund(receipt) => settle(&mut command, receipt, |_| 0),
        Operation::Settle(receipt) => settle(&mut command, receipt, |charged| charged.to),
        Operation::Reset(charges) => {
            command.arg("reset").arg(charges.as_slice().len());
            for index in 1..=charges.as_slice().len() {
                command.arg(index).arg(index);
            }
        }
    }
    command
}

fn rule(command: &mut Cmd, rule: &Rule) {
    command.arg(rule.name());
    match rule {
        Rule::TokenBucket(rule) => {
            command
                .arg(rule.bucket.capacity)
                .arg(rule.bucket.unit)
                .arg(rule.bucket.drain);
        }
        Rule::LeakyBucket(rule) => {
            command
                .arg(rule.bucket.capacity)
                .arg(rule.bucket.unit)
                .arg(rule.bucket.drain);
            command
                .arg(u8::from(rule.queue))
                .arg(rule.max_wait.map_or(-1, Micros::cast_signed));
        }
        Rule::FixedWindow(rule) => {
            command
                .arg(rule.quota.limit())
                .arg(rule.quota.window_micros())
                .arg(u8::from(rule.anchored));
        }
        Rule::SlidingLog(rule) => {
            command.arg(rule.quota.limit()).arg(rule.quota.window_micros());
        }
        Rule::SlidingCounter(rule) => {
            command.arg(rule.quota.limit()).arg(rule.width).arg(rule.buckets);
        }
    }
}

fn acquire(command: &mut Cmd, charges: &[Charge]) {
    command.arg("acquire").arg(charges.len());
    for (index, charge) in (1..).zip(charges) {
        command
            .arg(index)
            .arg(index)
            .arg(charge.cost)
            .arg(u8::from(charge.shadow));
    }
}

fn settle(command: &mut Cmd, receipt: &Receipt, to: fn(&Charged) -> Cost) {
    command.arg("settle").arg(receipt.charged().len());
    for (index, charged) in (1..).zip(receipt.charged()) {
        let Mark { at, place, unit } = charged.mark;
        command.arg(index).arg(index).arg(charged.charge.cost);
        command.arg(at).arg(place).arg(unit).arg(to(charged));
    }
}
