//! What there is to draw of an algorithm's state: all of it is what the store said, of this moment and of those before.

use std::collections::VecDeque;

use serde::Serialize;
use tollgate::{Micros, Rule, Verdict};

use crate::playground::scene::Settings;

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Drawing {
    /// Tokens, whole ones and a part of the next; and how many there are to take.
    Tokens { tokens: f64, left: u64, capacity: u32 },
    /// What waits in a bucket that leaks, whole requests and what has not leaked yet of the last that left.
    Queue { level: f64, waiting: usize, capacity: u32 },
    /// What the window has counted.
    Window {
        used: u64,
        limit: u32,
        begins: Micros,
        ends: Micros,
    },
    /// When those were admitted who still count.
    Log {
        entries: Vec<Micros>,
        limit: u32,
        window: Micros,
    },
    /// What each sub-window has counted, oldest first, and how much of the oldest still counts.
    Counter {
        counts: Vec<usize>,
        share: f64,
        used: u64,
        limit: u32,
    },
}

/// What it takes to draw a lane.
pub(super) struct Sight<'a> {
    pub(super) rule: &'a Rule,
    pub(super) settings: &'a Settings,
    pub(super) now: Micros,
    /// What a request of cost 0 is told now.
    pub(super) peek: Verdict,
    /// When requests were admitted, oldest first, as far back as any algorithm remembers.
    pub(super) admitted: &'a VecDeque<Micros>,
    pub(super) waiting: usize,
}

impl Sight<'_> {
    pub(super) fn drawing(&self) -> Drawing {
        let Settings { limit, capacity, .. } = *self.settings;
        let window = self.settings.window_micros();
        let used = u64::from(limit).saturating_sub(self.peek.remaining());
        match self.rule {
            Rule::TokenBucket(_) => Drawing::Tokens {
                tokens: f64::from(capacity) - self.owed(),
                left: self.peek.remaining(),
                capacity,
            },
            Rule::LeakyBucket(_) => Drawing::Queue {
                level: self.owed(),
                waiting: self.waiting,
                capacity,
            },
            Rule::SlidingLog(_) => Drawing::Log {
                entries: self
                    .admitted
                    .iter()
                    .copied()
                    .filter(|at| at + window > self.now)
                    .collect(),
                limit,
                window,
            },
            Rule::SlidingCounter(_) => self.counter(used),
            _ => {
                let begins = self.now / window * window;
                let ends = begins + window;
                Drawing::Window {
                    used,
                    limit,
                    begins,
                    ends,
                }
            }
        }
    }

    /// What a bucket is owed, in tokens: the time that it takes to be as good as new tells.
    fn owed(&self) -> f64 {
        let full_in = self.peek.reset_after().as_micros() as f64;
        let owed = full_in * f64::from(self.settings.limit) / self.settings.window_micros() as f64;
        // That time is rounded up to the microsecond, which must not look like another token.
        (owed * 1000.0).round() / 1000.0
    }

    fn counter(&self, used: u64) -> Drawing {
        let buckets = u64::from(self.settings.buckets);
        let width = self.settings.window_micros() / buckets;
        let newest = self.now / width;
        let count = |back| {
            let at = newest.checked_sub(back);
            self.admitted.iter().filter(|time| Some(*time / width) == at).count()
        };
        let elapsed = self.now % width;
        Drawing::Counter {
            counts: (0..=buckets).rev().map(count).collect(),
            share: (width - elapsed) as f64 / width as f64,
            used,
            limit: self.settings.limit,
        }
    }
}
