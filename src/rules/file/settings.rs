//! The algorithm of a limit, and its settings

use std::time::Duration;

use super::{Field, Reported, Table};
use crate::{
    algorithm::{ALGORITHMS, Algorithm, FixedWindow, LeakyBucket, Rule, SlidingCounter, SlidingLog, TokenBucket},
    invalid::Invalid,
    quota::Quota,
};

/// The settings that not every algorithm has, and whose they are.
const OWN: [(&str, &[&str]); 5] = [
    ("capacity", &["token_bucket", "leaky_bucket"]),
    ("queue", &["leaky_bucket"]),
    ("max_wait", &["leaky_bucket"]),
    ("anchored", &["fixed_window"]),
    ("buckets", &["sliding_counter"]),
];

#[derive(Clone, Copy)]
pub(super) struct Settings {
    algorithm: &'static str,
    limit: u32,
    window: Duration,
    capacity: Option<u32>,
    queue: bool,
    max_wait: Option<Duration>,
    anchored: bool,
    buckets: u32,
}

impl Settings {
    pub(super) fn read(table: &mut Table<'_>) -> Result<Self, Reported> {
        let algorithm = table.require("algorithm", "algorithm = \"sliding_counter\"");
        let algorithm = algorithm.and_then(|field| field.one_of(&ALGORITHMS));
        let limit = table.require("limit", "limit = 100").and_then(|field| field.count());
        let window = table
            .require("window", "window = \"1m\"")
            .and_then(|field| field.duration());
        let capacity = table.read("capacity", |field| own(field, algorithm)?.count());
        let queue = table.read("queue", |field| own(field, algorithm)?.flag());
        let max_wait = table.read("max_wait", |field| match queue {
            Ok(Some(false)) => Err(field.is("max_wait: nobody waits where queue = false, so leave one of them out")),
            _ => own(field, algorithm)?.duration(),
        });
        let anchored = table.read("anchored", |field| own(field, algorithm)?.flag());
        let buckets = table.read("buckets", |field| own(field, algorithm)?.count());
        Ok(Self {
            algorithm: algorithm?,
            limit: limit?,
            window: window?,
            capacity: capacity?,
            queue: queue?.unwrap_or(true),
            max_wait: max_wait?,
            anchored: anchored?.unwrap_or(false),
            buckets: buckets?.unwrap_or(1),
        })
    }

    pub(super) fn rule(&self) -> Result<Rule, Invalid> {
        let quota = Quota::try_new(self.limit, self.window)?;
        let capacity = self.capacity.unwrap_or(self.limit);
        Ok(match self.algorithm {
            "token_bucket" => TokenBucket::try_with_capacity(quota, capacity)?.rule(),
            "leaky_bucket" => {
                let bucket = LeakyBucket::try_with_capacity(quota, capacity)?;
                let bucket = self
                    .max_wait
                    .map_or(Ok(bucket), |max_wait| bucket.try_max_wait(max_wait))?;
                if self.queue {
                    bucket.rule()
                } else {
                    bucket.policing().rule()
                }
            }
            "fixed_window" => {
                let window = FixedWindow::new(quota);
                if self.anchored {
                    window.anchored().rule()
                } else {
                    window.rule()
                }
            }
            "sliding_log" => SlidingLog::try_new(quota)?.rule(),
            "sliding_counter" => SlidingCounter::new(quota).try_buckets(self.buckets)?.rule(),
            other => unreachable!("{other} is none of the five"),
        })
    }

    /// Those of a plan, which has some of its own.
    pub(super) fn of_plan(plan: &mut Table<'_>, base: Result<Self, Reported>) -> Result<Self, Reported> {
        let algorithm = base.map(|base| base.algorithm);
        let limit = plan.read("limit", Field::count);
        let capacity = plan.read("capacity", |field| own(field, algorithm)?.count());
        let base = base?;
        Ok(Self {
            limit: limit?.unwrap_or(base.limit),
            capacity: capacity?.or(base.capacity),
            ..base
        })
    }
}

/// The field, unless it is a setting of other algorithms than this one.
fn own<'a, 'f>(field: &'a Field<'f>, algorithm: Result<&str, Reported>) -> Result<&'a Field<'f>, Reported> {
    let mut own = OWN.into_iter().filter(|(name, _)| *name == field.name);
    match (own.next(), algorithm) {
        (Some((name, owners)), Ok(algorithm)) if !owners.contains(&algorithm) => {
            let owners = owners.join(" or a ");
            Err(field.is(format_args!("{name} is for a {owners}, and this is a {algorithm}")))
        }
        _ => Ok(field),
    }
}
