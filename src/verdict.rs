//! Verdicts: what one limit decides about one request.

use std::{fmt, time::Duration};

use crate::time::{Micros, micros};

/// Whether a limit admits a request.
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Key, Limit, ManualClock, MemoryStore, Outcome, Quota, TokenBucket};
///
/// let store = MemoryStore::builder().clock(ManualClock::at(0)).build();
/// let limit = Limit::new("pages", TokenBucket::new(Quota::per_second(10)));
/// let outcome = |cost| store.acquire(&limit, &Key::GLOBAL, cost).outcome();
///
/// assert_eq!(outcome(9), Outcome::Admitted { delay: Duration::ZERO });
/// assert_eq!(outcome(2), Outcome::Limited { retry_after: Duration::from_millis(100) }); // one token is left
/// assert_eq!(outcome(11), Outcome::Impossible); // the capacity is ten
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// The request may pass, after `delay`.
    Admitted {
        /// How long a queueing leaky bucket delays it; zero for every other algorithm.
        delay: Duration,
    },
    /// The request may not pass now.
    Limited {
        /// How long until the same request would be admitted, if no other request is charged before. It is exact: one microsecond earlier
        /// the request would still be denied. For a concurrency limit it is only a hint, since nobody knows when a slot is released.
        retry_after: Duration,
    },
    /// The request can never pass: its cost exceeds the limit's capacity.
    Impossible,
}

impl Outcome {
    /// `admitted`, `limited` or `impossible`, as in rules, logs and metrics.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Admitted { .. } => "admitted",
            Self::Limited { .. } => "limited",
            Self::Impossible => "impossible",
        }
    }

    /// Whether the request may pass.
    pub const fn admits(&self) -> bool {
        matches!(self, Self::Admitted { .. })
    }

    /// When to retry; only for a limited request.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Limited { retry_after } => Some(*retry_after),
            Self::Admitted { .. } | Self::Impossible => None,
        }
    }

    /// How long an admitted request is delayed.
    pub const fn delay(&self) -> Duration {
        match self {
            Self::Admitted { delay } => *delay,
            Self::Limited { .. } | Self::Impossible => Duration::ZERO,
        }
    }
}

/// An [`Outcome`] in microseconds. Verdicts are moved often, and a `Duration` is twice as large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RawOutcome {
    Admitted { delay: Micros },
    Limited { retry_after: Micros },
    Impossible,
}

impl RawOutcome {
    pub(crate) const fn admits(self) -> bool {
        matches!(self, Self::Admitted { .. })
    }

    const fn to_outcome(self) -> Outcome {
        match self {
            Self::Admitted { delay } => Outcome::Admitted {
                delay: Duration::from_micros(delay),
            },
            Self::Limited { retry_after } => Outcome::Limited {
                retry_after: Duration::from_micros(retry_after),
            },
            Self::Impossible => Outcome::Impossible,
        }
    }
}

impl From<RawOutcome> for Outcome {
    fn from(outcome: RawOutcome) -> Self {
        outcome.to_outcome()
    }
}

/// Rounds up to whole microseconds.
impl From<Outcome> for RawOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Admitted { delay } => Self::Admitted { delay: micros(delay) },
            Outcome::Limited { retry_after } => Self::Limited {
                retry_after: micros(retry_after),
            },
            Outcome::Impossible => Self::Impossible,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A limit's verdict about one request: the outcome, what remains, and when the limit resets.
///
/// For an admitted request it describes the state after the charge, for a denied one the current state.
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Key, Limit, ManualClock, MemoryStore, Quota, SlidingLog};
///
/// let store = MemoryStore::builder().clock(ManualClock::at(0)).build();
/// let limit = Limit::new("login", SlidingLog::new(Quota::per_minute(3)));
/// let verdict = store.acquire(&limit, &Key::new("user:1"), 2);
/// assert_eq!((verdict.remaining(), verdict.retry_after()), (1, None));
/// let verdict = store.acquire(&limit, &Key::new("user:1"), 2);
/// assert_eq!((verdict.remaining(), verdict.retry_after()), (1, Some(Duration::from_secs(60))));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Verdict {
    pub(crate) outcome: RawOutcome,
    pub(crate) remaining: Remaining,
    pub(crate) reset_after: Micros,
}

/// What remains or, if nothing does, when something will. One number, as in the script's reply, because verdicts are moved often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Remaining(u64);

impl Remaining {
    /// Added to the time until something remains: more than any quota.
    const EXHAUSTED: u64 = 1 << 33;

    /// What remains after a verdict with this outcome. `wait` is the time until something does, which is computed only if nothing does,
    /// and not for a limited request, which has to wait anyway.
    pub(crate) fn new(units: u64, outcome: RawOutcome, wait: impl FnOnce() -> Micros) -> Self {
        match outcome {
            RawOutcome::Limited { .. } => Self(units),
            _ if units > 0 => Self(units),
            _ => Self(Self::EXHAUSTED + wait()),
        }
    }

    #[cfg(feature = "redis")]
    pub(crate) fn from_reply(number: u64) -> Self {
        Self(number)
    }

    const fn units(self) -> u64 {
        if self.0 < Self::EXHAUSTED { self.0 } else { 0 }
    }

    /// The time until something remains; 0 if something does, and for a limited request.
    pub(crate) fn available_after(self) -> Micros {
        self.0.saturating_sub(Self::EXHAUSTED)
    }

    fn advanced_by(self, elapsed: Micros) -> Self {
        match self.available_after() {
            0 => self,
            wait => Self(Self::EXHAUSTED + wait.saturating_sub(elapsed).max(1)),
        }
    }
}

impl Verdict {
    /// A verdict: the outcome, what remains, how long until something does if nothing remains, and how long until the state is fresh.
    /// All are of the state after the charge if the request is admitted. For stores of your own that do not use
    /// [`Operation::apply_to`](crate::Operation::apply_to).
    pub fn new(outcome: Outcome, remaining: u64, available_after: Duration, reset_after: Duration) -> Self {
        let outcome = outcome.into();
        Self {
            outcome,
            remaining: Remaining::new(remaining, outcome, || micros(available_after)),
            reset_after: micros(reset_after),
        }
    }

    /// The verdict after some time without other charges. Waits stay above 0: only a new decision can admit.
    pub(crate) fn advanced_by(self, elapsed: Micros) -> Self {
        let outcome = match self.outcome {
            RawOutcome::Limited { retry_after } => RawOutcome::Limited {
                retry_after: retry_after.saturating_sub(elapsed).max(1),
            },
            outcome => outcome,
        };
        Self {
            outcome,
            reset_after: self.reset_after.saturating_sub(elapsed),
            remaining: self.remaining.advanced_by(elapsed),
        }
    }

    /// The verdict of a request that this node admits by itself: what remains includes the units that it still holds, up to the
    /// `capacity`, since a bucket has refilled meanwhile.
    #[cfg(feature = "redis")]
    pub(crate) fn with_units_in_hand(self, units: u64, capacity: u64) -> Self {
        let outcome = RawOutcome::Admitted { delay: 0 };
        let remaining = match (self.remaining.units() + units).min(capacity) {
            0 => match self.outcome {
                RawOutcome::Limited { retry_after } => Remaining(Remaining::EXHAUSTED + retry_after.max(1)),
                _ => self.remaining,
            },
            remaining => Remaining(remaining),
        };
        Self {
            outcome,
            remaining,
            ..self
        }
    }

    /// The outcome.
    pub const fn outcome(&self) -> Outcome {
        self.outcome.to_outcome()
    }

    /// How much can still be charged now.
    pub const fn remaining(&self) -> u64 {
        self.remaining.units()
    }

    /// When to retry; only for a limited request.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.outcome().retry_after()
    }

    /// How long until the state is fresh, with nothing used; zero if it is. It can exceed the window: a sliding counter counts one
    /// sub-window more, and a bucket takes its own time to refill.
    pub const fn reset_after(&self) -> Duration {
        Duration::from_micros(self.reset_after)
    }

    /// How long an admitted request is delayed.
    pub const fn delay(&self) -> Duration {
        self.outcome().delay()
    }
}
