//! What a user sets, as a scene's address spells it, or what is wrong with it, field by field.

use std::{collections::BTreeMap, ops::RangeInclusive, time::Duration};

use serde::Serialize;
use tollgate::{
    Algorithm, FixedWindow, Invalid, LeakyBucket, Micros, Quota, Rule, SlidingCounter, SlidingLog, TokenBucket,
};

use super::{
    pace::Speed,
    play::{Play, moment},
};

const SECOND: Micros = 1_000_000;

const MOST_BUCKETS: u32 = 64;

/// What is wrong, by the name of its field.
pub(crate) type Wrong = BTreeMap<&'static str, String>;

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Settings {
    pub(crate) limit: u32,
    /// In seconds.
    pub(crate) window: u32,
    pub(crate) capacity: u32,
    /// How many sub-windows the sliding counter has.
    pub(crate) buckets: u32,
    /// How many requests come at once.
    pub(crate) burst: u32,
    /// How many requests of a stream come in a second.
    pub(crate) rate: u32,
    #[serde(skip)]
    pub(crate) speed: Speed,
    #[serde(skip)]
    pub(crate) paused: bool,
    #[serde(skip)]
    pub(crate) play: Play,
    /// How far it has been played already.
    #[serde(skip)]
    pub(crate) at: Micros,
}

impl Settings {
    /// Reads what an address says. Whatever it does not say is as it would be for most: buckets hold the limit, and a burst
    /// is twice that.
    pub(crate) fn read(given: &BTreeMap<String, String>) -> Result<Self, Wrong> {
        let mut fields = Fields {
            given,
            wrong: Wrong::new(),
        };
        let limit = fields.number("limit", 1..=200, 10);
        let settings = Self {
            limit,
            window: fields.number("window", 1..=600, 10),
            capacity: fields.number("capacity", 1..=200, limit),
            buckets: fields.number("buckets", 1..=MOST_BUCKETS, 1),
            burst: fields.number("burst", 1..=400, 2 * limit),
            rate: fields.number("rate", 1..=100, 2),
            speed: fields.parsed("speed", Speed::REAL, |()| "must be 0.1, 0.25, 0.5, 1 or 4".into()),
            paused: given.contains_key("paused"),
            play: fields.parsed("play", Play::default(), |must| must),
            at: fields.moment("at"),
        };
        let mut wrong = fields.wrong;
        // The only field that has to go with another.
        if wrong.is_empty() && settings.rules().is_err() {
            wrong.insert("buckets", settings.fitting_buckets());
        }
        if wrong.is_empty() { Ok(settings) } else { Err(wrong) }
    }

    /// The five algorithms, in the order of the lanes.
    pub(crate) fn rules(&self) -> Result<[Rule; 5], Invalid> {
        let quota = Quota::try_new(self.limit, Duration::from_secs(self.window.into()))?;
        Ok([
            TokenBucket::try_with_capacity(quota, self.capacity)?.rule(),
            LeakyBucket::try_with_capacity(quota, self.capacity)?.rule(),
            FixedWindow::new(quota).rule(),
            SlidingLog::try_new(quota)?.rule(),
            SlidingCounter::new(quota).try_buckets(self.buckets)?.rule(),
        ])
    }

    /// Which numbers of sub-windows to choose from instead.
    fn fitting_buckets(&self) -> String {
        let fits = |buckets: &u32| self.window_micros().is_multiple_of((*buckets).into());
        let (fewer, more) = ((1..self.buckets).rfind(fits), (self.buckets..=MOST_BUCKETS).find(fits));
        let use_these = [fewer, more].into_iter().flatten().map(|buckets| buckets.to_string());
        format!(
            "must divide the window evenly: use {}",
            use_these.collect::<Vec<_>>().join(" or ")
        )
    }

    pub(crate) fn window_micros(&self) -> Micros {
        Micros::from(self.window) * SECOND
    }

    /// A short while in which nobody should let too many through: a fifth of the window.
    pub(crate) fn span(&self) -> Micros {
        self.window_micros() / 5
    }

    /// A hundredth of the window.
    pub(crate) fn step(&self) -> Micros {
        self.window_micros() / 100
    }

    /// When the stream's nth request comes, after it began.
    pub(crate) fn streamed(&self, nth: Micros) -> Micros {
        nth * SECOND / Micros::from(self.rate)
    }
}

struct Fields<'a> {
    given: &'a BTreeMap<String, String>,
    wrong: Wrong,
}

impl Fields<'_> {
    fn number(&mut self, field: &'static str, range: RangeInclusive<u32>, default: u32) -> u32 {
        let Some(given) = self.given.get(field) else {
            return default;
        };
        match given.parse() {
            Ok(number) if range.contains(&number) => number,
            _ => {
                let (least, most) = range.into_inner();
                self.wrong
                    .insert(field, format!("must be a whole number from {least} to {most}"));
                default
            }
        }
    }

    fn moment(&mut self, field: &'static str) -> Micros {
        let given = self.given.get(field).map_or("0", |given| given);
        moment(given).unwrap_or_else(|| {
            self.wrong.insert(field, "must be a number of milliseconds".into());
            0
        })
    }

    fn parsed<T: std::str::FromStr>(&mut self, field: &'static str, default: T, must: impl Fn(T::Err) -> String) -> T {
        match self.given.get(field).map(|given| given.parse()) {
            None => default,
            Some(Ok(value)) => value,
            Some(Err(error)) => {
                self.wrong.insert(field, must(error));
                default
            }
        }
    }
}
