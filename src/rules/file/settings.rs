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

/// The algorithm, which says what other settings there are.
pub(super) fn algorithm(table: &mut Table<'_>) -> Result<&'static str, Reported> {
    let algorithm = table.require("algorithm", "algorithm = \"sliding_counter\"")?;
    algorithm.one_of(&ALGORITHMS)
}

impl Settings {
    pub(super) fn read(table: &mut Table<'_>, algorithm: Result<&'static str, Reported>) -> Result<Self, Reported> {
        let limit = table.require("limit", "limit = 100").and_then(|field| field.count());
        let window = table
            .require("window", "window = \"1m\"")
            .and_then(|field| window(&field));
        let capacity = own(table, "capacity", algorithm, Field::count);
        let queue = own(table, "queue", algorithm, Field::flag);
        let max_wait = own(table, "max_wait", algorithm, |field| match queue {
            Ok(Some(false)) => Err(field.is("max_wait: nobody waits where queue = false, so leave one of them out")),
            _ => field.duration(),
        });
        let anchored = own(table, "anchored", algorithm, Field::flag);
        let buckets = own(table, "buckets", algorithm, |field| field.up_to(64));
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
    pub(super) fn of_plan(
        plan: &mut Table<'_>,
        algorithm: Result<&'static str, Reported>,
        base: Result<Self, Reported>,
    ) -> Result<Self, Reported> {
        let limit = plan.read("limit", Field::count);
        let capacity = own(plan, "capacity", algorithm, Field::count);
        let base = base?;
        Ok(Self {
            limit: limit?.unwrap_or(base.limit),
            capacity: capacity?.or(base.capacity),
            ..base
        })
    }
}

/// A window on its own, so that it is told from what does not go with it.
fn window(field: &Field<'_>) -> Result<Duration, Reported> {
    let window = field.duration()?;
    Quota::try_new(1, window).map_err(|_| field.must("be from 1us to 3650d"))?;
    Ok(window)
}

/// A setting, which is reported and left out if it is one of other algorithms than this.
fn own<'f, T>(
    table: &mut Table<'f>,
    name: &'static str,
    algorithm: Result<&str, Reported>,
    read: impl FnOnce(&Field<'f>) -> Result<T, Reported>,
) -> Result<Option<T>, Reported> {
    let (_, owners) = OWN.into_iter().find(|(own, _)| *own == name).unwrap_or_default();
    match (table.get(name), algorithm) {
        (Some(field), Ok(algorithm)) if !owners.contains(&algorithm) => {
            let owners = owners.join(" or a ");
            field.is(format_args!("{name} is for a {owners}, and this is a {algorithm}"));
            Ok(None)
        }
        (field, _) => field.as_ref().map(read).transpose(),
    }
}
