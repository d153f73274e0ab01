//! The state of an algorithm as the page draws it, derived from the store's decisions.

use std::collections::VecDeque;

use serde::Serialize;
use tollgate::{AnyAlgorithm, Micros, Verdict};

use super::text::window_micros;
use crate::playground::session::Settings;

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Drawing {
    /// `tokens` includes the fraction of the next token, `left` is whole tokens.
    Tokens { tokens: f64, left: u64, capacity: u32 },
    /// `level` includes the fraction of the last request that has not leaked yet.
    Queue { level: f64, waiting: usize, capacity: u32 },
    /// The count of the current window.
    Window {
        used: u64,
        limit: u32,
        begins: Micros,
        ends: Micros,
    },
    /// The times of the admitted requests in the window.
    Log {
        entries: Vec<Micros>,
        limit: u32,
        window: Micros,
    },
    /// The count of each sub-window, oldest first, and the share of the oldest that still counts.
    Counter {
        counts: Vec<usize>,
        share: f64,
        used: u64,
        limit: u32,
    },
    /// The slots that are held, and when the next one is free.
    Slots {
        held: u64,
        limit: u32,
        next_free: Option<Micros>,
    },
}

pub(super) struct DrawingInput<'a> {
    pub(super) algorithm: &'a AnyAlgorithm,
    pub(super) settings: &'a Settings,
    pub(super) now: Micros,
    /// The verdict of a request with cost 0.
    pub(super) peek: Verdict,
    /// The times of admitted requests, oldest first, for as long as any algorithm needs them.
    pub(super) admitted: &'a VecDeque<Micros>,
    pub(super) waiting: usize,
    /// When the next request ends that holds a slot.
    pub(super) next_end: Option<Micros>,
}

impl DrawingInput<'_> {
    pub(super) fn drawing(&self) -> Drawing {
        let (limit, capacity) = (self.settings.limit, self.algorithm.capacity());
        let window = window_micros(self.algorithm);
        let used = u64::from(limit).saturating_sub(self.peek.remaining());
        match self.algorithm {
            AnyAlgorithm::TokenBucket(_) => Drawing::Tokens {
                tokens: f64::from(capacity) - self.used_capacity(),
                left: self.peek.remaining(),
                capacity,
            },
            AnyAlgorithm::LeakyBucket(_) => Drawing::Queue {
                level: self.used_capacity(),
                waiting: self.waiting,
                capacity,
            },
            AnyAlgorithm::SlidingLog(_) => Drawing::Log {
                entries: self
                    .admitted
                    .iter()
                    .copied()
                    .filter(|at| at + window > self.now)
                    .collect(),
                limit,
                window,
            },
            AnyAlgorithm::SlidingCounter(_) => self.counter(used),
            AnyAlgorithm::Concurrency(_) => Drawing::Slots {
                held: used,
                limit,
                next_free: self.next_end,
            },
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

    /// The used capacity of a bucket in tokens, from the time until it is reset.
    fn used_capacity(&self) -> f64 {
        let reset_after = self.peek.reset_after().as_micros() as f64;
        let used = reset_after * f64::from(self.settings.limit) / self.settings.window_micros() as f64;
        // The time is rounded up to a microsecond, which must not show as another token.
        (used * 1000.0).round() / 1000.0
    }

    fn counter(&self, used: u64) -> Drawing {
        let sub_windows = u64::from(self.settings.sub_windows);
        let width = self.settings.window_micros() / sub_windows;
        let newest = self.now / width;
        let count = |back| {
            let bucket = newest.checked_sub(back);
            self.admitted.iter().filter(|at| Some(*at / width) == bucket).count()
        };
        let elapsed = self.now % width;
        Drawing::Counter {
            counts: (0..=sub_windows).rev().map(count).collect(),
            share: (width - elapsed) as f64 / width as f64,
            used,
            limit: self.settings.limit,
        }
    }
}
