//! The settings of a session, parsed from the page's URL with an error per field.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;
use tollgate::{
    Algorithm, AnyAlgorithm, Concurrency, ConfigError, FixedWindow, LeakyBucket, Micros, Quota, SlidingCounter,
    SlidingLog, TokenBucket,
};

use super::{
    action::Action,
    fields::{FieldErrors, Fields},
    history::ActionHistory,
    pace::{MILLISECOND, Speed},
};

const SECOND: Micros = 1_000_000;

const MAX_SUB_WINDOWS: u32 = 64;

/// The longest lease of the library, in milliseconds.
pub(crate) const MAX_LEASE: u32 = 60_000;

/// The longest request, in milliseconds.
const MAX_DURATION: u32 = 60_000;

/// How long Redis keeps a slot that is not renewed, in simulated time: longer than any request, since slots are renewed in real time.
const TIME_TO_LIVE: Duration = Duration::from_millis(2 * MAX_DURATION as u64);

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Settings {
    pub(crate) limit: u32,
    /// In seconds.
    pub(crate) window: u32,
    pub(crate) capacity: u32,
    /// The sub-windows of the sliding counter.
    pub(crate) sub_windows: u32,
    /// The lease time in milliseconds, or 0 for none.
    pub(crate) lease: u32,
    /// How long a request takes, in milliseconds.
    pub(crate) duration: u32,
    /// The requests of a burst.
    pub(crate) burst: u32,
    /// The requests of a stream per second.
    pub(crate) rate: u32,
    #[serde(skip)]
    pub(crate) speed: Speed,
    #[serde(skip)]
    pub(crate) paused: bool,
    #[serde(skip)]
    pub(crate) play: ActionHistory<Action>,
    /// The time up to which the actions are replayed at once.
    #[serde(skip)]
    pub(crate) at: Micros,
}

impl Settings {
    /// Parses the URL's query. By default buckets hold the limit, and a burst is twice the limit.
    pub(crate) fn parse(query: &BTreeMap<String, String>) -> Result<Self, FieldErrors> {
        let mut fields = Fields::new(query);
        let limit = fields.number("limit", 1..=200, 10);
        let settings = Self {
            limit,
            window: fields.number("window", 1..=600, 10),
            capacity: fields.number("capacity", 1..=200, limit),
            sub_windows: fields.number("sub_windows", 1..=MAX_SUB_WINDOWS, 1),
            lease: fields.number("lease", 0..=MAX_LEASE, 0),
            duration: fields.number("duration", 1..=MAX_DURATION, 500),
            burst: fields.number("burst", 1..=400, 2 * limit),
            rate: fields.number("rate", 1..=100, 2),
            speed: fields.parsed("speed", Speed::REAL, |()| "must be 0.1, 0.25, 0.5, 1 or 4".into()),
            paused: query.contains_key("paused"),
            play: fields.parsed("play", ActionHistory::default(), |message| message),
            at: fields.time("at"),
        };
        let mut errors = fields.errors;
        // Only the number of sub-windows depends on another field.
        if errors.is_empty() && settings.algorithms().is_err() {
            errors.insert("sub_windows", settings.suggest_sub_windows());
        }
        if errors.is_empty() { Ok(settings) } else { Err(errors) }
    }

    /// The six algorithms, in the order of the lanes.
    pub(crate) fn algorithms(&self) -> Result<[AnyAlgorithm; 6], ConfigError> {
        let quota = Quota::try_new(self.limit, Duration::from_secs(self.window.into()))?;
        Ok([
            TokenBucket::try_with_capacity(quota, self.capacity)?.to_any(),
            LeakyBucket::try_with_capacity(quota, self.capacity)?.to_any(),
            FixedWindow::new(quota).to_any(),
            SlidingLog::try_new(quota)?.to_any(),
            SlidingCounter::new(quota).try_sub_windows(self.sub_windows)?.to_any(),
            Concurrency::try_new(self.limit)?
                .try_time_to_live(TIME_TO_LIVE)?
                .to_any(),
        ])
    }

    /// An error message with the next valid numbers of sub-windows.
    fn suggest_sub_windows(&self) -> String {
        let is_valid = |sub_windows: &u32| self.window_micros().is_multiple_of((*sub_windows).into());
        let fewer = (1..self.sub_windows).rfind(is_valid);
        let more = (self.sub_windows..=MAX_SUB_WINDOWS).find(is_valid);
        let suggestions = [fewer, more]
            .into_iter()
            .flatten()
            .map(|sub_windows| sub_windows.to_string());
        format!(
            "must divide the window evenly: use {}",
            suggestions.collect::<Vec<_>>().join(" or ")
        )
    }

    pub(crate) fn window_micros(&self) -> Micros {
        Micros::from(self.window) * SECOND
    }

    pub(crate) fn duration_micros(&self) -> Micros {
        Micros::from(self.duration) * MILLISECOND
    }

    pub(crate) fn lease_time(&self) -> Option<Duration> {
        (self.lease > 0).then(|| Duration::from_millis(self.lease.into()))
    }

    /// A short span, to show bursts: a fifth of the window.
    pub(crate) fn span(&self) -> Micros {
        self.window_micros() / 5
    }

    /// A hundredth of the window.
    pub(crate) fn step(&self) -> Micros {
        self.window_micros() / 100
    }

    /// The time of a stream's nth request after its start.
    pub(crate) fn stream_offset(&self, nth: Micros) -> Micros {
        nth * SECOND / Micros::from(self.rate)
    }
}
