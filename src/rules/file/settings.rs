//! The algorithm of a limit, and its settings

use std::time::Duration;

use super::{field::Field, problems::Reported, table::Table};
use crate::{
    algorithm::{ALGORITHMS, Algorithm, FixedWindow, LeakyBucket, Rule, SlidingCounter, SlidingLog, TokenBucket},
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

/// What is said of a limit, each as far as it could be read: what one lacks may still show what is wrong with another.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    algorithm: Result<&'static str, Reported>,
    limit: Result<u32, Reported>,
    window: Result<Duration, Reported>,
    capacity: Result<Option<u32>, Reported>,
    queue: Result<Option<bool>, Reported>,
    max_wait: Result<Option<Duration>, Reported>,
    anchored: Result<Option<bool>, Reported>,
    buckets: Result<Option<u32>, Reported>,
}

impl Settings {
    pub(super) fn read(table: &mut Table<'_>) -> Self {
        let algorithm = table.require("algorithm", "algorithm = \"sliding_counter\"");
        let algorithm = algorithm.and_then(|field| field.one_of(&ALGORITHMS));
        let limit = table.require("limit", "limit = 100");
        let window = table.require("window", "window = \"1m\"");
        let capacity = own(table, "capacity", algorithm, Field::count);
        let queue = own(table, "queue", algorithm, Field::flag);
        let max_wait = own(table, "max_wait", algorithm, |field| match queue {
            Ok(Some(false)) => Err(field.is("max_wait: nobody waits where queue = false, so leave one of them out")),
            _ => field.duration(),
        });
        Self {
            algorithm,
            limit: limit.and_then(|field| field.count()),
            window: window.and_then(|field| self::window(&field)),
            capacity,
            queue,
            max_wait,
            anchored: own(table, "anchored", algorithm, Field::flag),
            buckets: own(table, "buckets", algorithm, |field| field.up_to(64)),
        }
    }

    /// Those of a plan, which has some of its own.
    pub(super) fn of_plan(self, plan: &mut Table<'_>) -> Self {
        let limit = plan.read("limit", Field::count).transpose();
        let capacity = own(plan, "capacity", self.algorithm, Field::count).transpose();
        Self {
            limit: limit.unwrap_or(self.limit),
            capacity: capacity.map_or(self.capacity, |capacity| capacity.map(Some)),
            ..self
        }
    }

    /// The rule that they make, unless they do not go together, which is told of the table that they are in.
    pub(super) fn rule(&self, table: &Table<'_>) -> Result<Rule, Reported> {
        let (algorithm, limit, window) = (self.algorithm?, self.limit?, self.window?);
        let capacity = self.capacity?.unwrap_or(limit);
        let (queue, max_wait) = (self.queue?.unwrap_or(true), self.max_wait?);
        let (anchored, buckets) = (self.anchored?.unwrap_or(false), self.buckets?.unwrap_or(1));
        let rule = Quota::try_new(limit, window).and_then(|quota| match algorithm {
            "token_bucket" => TokenBucket::try_with_capacity(quota, capacity).map(|bucket| bucket.rule()),
            "leaky_bucket" => {
                let bucket = LeakyBucket::try_with_capacity(quota, capacity)?;
                let bucket = max_wait.map_or(Ok(bucket), |max_wait| bucket.try_max_wait(max_wait))?;
                Ok(if queue { bucket } else { bucket.policing() }.rule())
            }
            "fixed_window" => {
                let window = FixedWindow::new(quota);
                Ok(if anchored { window.anchored() } else { window }.rule())
            }
            "sliding_log" => SlidingLog::try_new(quota).map(|log| log.rule()),
            "sliding_counter" => SlidingCounter::new(quota)
                .try_buckets(buckets)
                .map(|counter| counter.rule()),
            other => unreachable!("{other} is none of the five"),
        });
        rule.map_err(|invalid| table.invalid(&invalid))
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
