//! `algorithm`, `limit`, `window` and the settings of algorithms

use std::time::Duration;

use super::{diagnostics::Reported, field::Field, table::Table};
use crate::{
    algorithm::{
        ALGORITHMS, Algorithm, AnyAlgorithm, Concurrency, FixedWindow, LeakyBucket, SlidingCounter, SlidingLog,
        TokenBucket,
    },
    config_error::ConfigError,
    quota::Quota,
};

/// The settings of single algorithms.
const ALGORITHM_SETTINGS: [(&str, &[&str]); 9] = [
    (
        "window",
        &[
            "token_bucket",
            "leaky_bucket",
            "fixed_window",
            "sliding_log",
            "sliding_counter",
        ],
    ),
    ("capacity", &["token_bucket", "leaky_bucket"]),
    ("queue", &["leaky_bucket"]),
    ("max_wait", &["leaky_bucket"]),
    ("anchored", &["fixed_window"]),
    ("sub_windows", &["sliding_counter"]),
    ("time_to_live", &["concurrency"]),
    ("retry_after", &["concurrency"]),
    ("status", &["concurrency"]),
];

/// The settings of a limit. Each keeps its own result, so that an invalid one does not hide the faults of others.
#[derive(Clone, Copy)]
pub(super) struct Settings {
    algorithm: Result<&'static str, Reported>,
    limit: Result<u32, Reported>,
    /// `None` for a concurrency limit.
    window: Result<Option<Duration>, Reported>,
    capacity: Result<Option<u32>, Reported>,
    queue: Result<Option<bool>, Reported>,
    max_wait: Result<Option<Duration>, Reported>,
    anchored: Result<Option<bool>, Reported>,
    sub_windows: Result<Option<u32>, Reported>,
    time_to_live: Result<Option<Duration>, Reported>,
    retry_after: Result<Option<Duration>, Reported>,
    status: Result<Option<u32>, Reported>,
}

impl Settings {
    pub(super) fn read(table: &mut Table<'_>) -> Self {
        let algorithm = table.require("algorithm", "algorithm = \"sliding_counter\"");
        let algorithm = algorithm.and_then(|field| field.one_of(&ALGORITHMS));
        let limit = table.require("limit", "limit = 100");
        let window = match algorithm {
            Ok("concurrency") => algorithm_setting(table, "window", algorithm, self::window),
            _ => table
                .require("window", "window = \"1m\"")
                .and_then(|field| self::window(&field).map(Some)),
        };
        let capacity = algorithm_setting(table, "capacity", algorithm, Field::count);
        let queue = algorithm_setting(table, "queue", algorithm, Field::flag);
        let max_wait = algorithm_setting(table, "max_wait", algorithm, |field| match queue {
            Ok(Some(false)) => Err(field.report("max_wait has no effect with queue = false: remove one of them")),
            _ => field.duration(),
        });
        Self {
            algorithm,
            limit: limit.and_then(|field| field.count()),
            window,
            capacity,
            queue,
            max_wait,
            anchored: algorithm_setting(table, "anchored", algorithm, Field::flag),
            sub_windows: algorithm_setting(table, "sub_windows", algorithm, |field| field.count_up_to(64)),
            time_to_live: algorithm_setting(table, "time_to_live", algorithm, Field::duration),
            retry_after: algorithm_setting(table, "retry_after", algorithm, Field::duration),
            status: algorithm_setting(table, "status", algorithm, |field| match field.count()? {
                status @ (429 | 503) => Ok(status),
                _ => Err(field.must("be 429 or 503")),
            }),
        }
    }

    /// The settings of a plan, which overrides some of them.
    pub(super) fn overridden_by(self, plan: &mut Table<'_>) -> Self {
        let limit = plan.read("limit", Field::count).transpose();
        let capacity = algorithm_setting(plan, "capacity", self.algorithm, Field::count).transpose();
        Self {
            limit: limit.unwrap_or(self.limit),
            capacity: capacity.map_or(self.capacity, |capacity| capacity.map(Some)),
            ..self
        }
    }

    /// Builds the algorithm. Reports settings that are invalid in combination.
    pub(super) fn build(&self, table: &Table<'_>) -> Result<AnyAlgorithm, Reported> {
        let (algorithm, limit, window) = (self.algorithm?, self.limit?, self.window?);
        let Some(window) = window else {
            return self.concurrency(limit)?.map_err(|error| table.invalid(&error));
        };
        let capacity = self.capacity?.unwrap_or(limit);
        let (queue, max_wait) = (self.queue?.unwrap_or(true), self.max_wait?);
        let (anchored, sub_windows) = (self.anchored?.unwrap_or(false), self.sub_windows?.unwrap_or(1));
        let built = Quota::try_new(limit, window).and_then(|quota| match algorithm {
            "token_bucket" => TokenBucket::try_with_capacity(quota, capacity).map(|bucket| bucket.to_any()),
            "leaky_bucket" => {
                let bucket = LeakyBucket::try_with_capacity(quota, capacity)?;
                let bucket = max_wait.map_or(Ok(bucket), |max_wait| bucket.try_max_wait(max_wait))?;
                Ok(if queue { bucket } else { bucket.policing() }.to_any())
            }
            "fixed_window" => {
                let window = FixedWindow::new(quota);
                Ok(if anchored { window.anchored() } else { window }.to_any())
            }
            "sliding_log" => SlidingLog::try_new(quota).map(|log| log.to_any()),
            "sliding_counter" => SlidingCounter::new(quota)
                .try_sub_windows(sub_windows)
                .map(|counter| counter.to_any()),
            other => unreachable!("{other} is not an algorithm"),
        });
        built.map_err(|error| table.invalid(&error))
    }
}

impl Settings {
    fn concurrency(&self, limit: u32) -> Result<Result<AnyAlgorithm, ConfigError>, Reported> {
        let (time_to_live, retry_after, status) = (self.time_to_live?, self.retry_after?, self.status?);
        let built = Concurrency::try_new(limit)
            .and_then(|limit| time_to_live.map_or(Ok(limit), |time| limit.try_time_to_live(time)))
            .and_then(|limit| retry_after.map_or(Ok(limit), |time| limit.try_retry_after(time)));
        Ok(built.map(|limit| match status {
            Some(503) => limit.unavailable_when_full().to_any(),
            _ => limit.to_any(),
        }))
    }
}

/// Reads the window, and checks it independently of the limit.
fn window(field: &Field<'_>) -> Result<Duration, Reported> {
    let window = field.duration()?;
    Quota::try_new(1, window).map_err(|_| field.must("be from 1us to 3650d"))?;
    Ok(window)
}

/// Reads a setting of single algorithms. Reports and ignores it if the algorithm is another one.
fn algorithm_setting<'f, T>(
    table: &mut Table<'f>,
    name: &'static str,
    algorithm: Result<&str, Reported>,
    read: impl FnOnce(&Field<'f>) -> Result<T, Reported>,
) -> Result<Option<T>, Reported> {
    let (_, owners) = ALGORITHM_SETTINGS
        .into_iter()
        .find(|(setting, _)| *setting == name)
        .unwrap_or_default();
    match (table.get(name), algorithm) {
        (Some(field), Ok(algorithm)) if !owners.contains(&algorithm) => {
            let owners = owners.join(" or a ");
            field.report(format_args!("{name} is for a {owners}, and this is a {algorithm}"));
            Ok(None)
        }
        (field, _) => field.as_ref().map(read).transpose(),
    }
}
