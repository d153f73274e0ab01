//! What one limit says of one request.

use std::{fmt, time::Duration};

use crate::time::Micros;

/// Whether a limit lets a request pass.
///
/// ```
/// use tollgate::{Key, Limit, ManualClock, MemoryStore, Outcome, Quota, TokenBucket};
///
/// let store = MemoryStore::builder().clock(ManualClock::at(0)).build();
/// let limit = Limit::new("pages", TokenBucket::new(Quota::per_second(10)));
/// let outcome = |cost| store.acquire(&limit, &Key::GLOBAL, cost).outcome();
///
/// assert_eq!(outcome(9), Outcome::Admitted { delay: 0 });
/// assert_eq!(outcome(2), Outcome::Limited { retry_after: 100_000 }); // one is left, another one comes in 0.1 s
/// assert_eq!(outcome(11), Outcome::Impossible); // there are never more than ten
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// It may pass, after `delay` when it has to queue for its turn.
    Admitted {
        /// How long a queueing leaky bucket holds it, in microseconds; 0 for every other algorithm.
        delay: Micros,
    },
    /// It may not pass now.
    Limited {
        /// The same request is admitted this many microseconds from now, if nobody else comes in between, and not
        /// one microsecond earlier.
        retry_after: Micros,
    },
    /// It can never pass: it costs more than the limit ever holds.
    Impossible,
}

impl Outcome {
    /// `admitted`, `limited` or `impossible`, as rules, logs and metrics spell it.
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

    /// When to come back; only a limited request is promised a time.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Limited { retry_after } => Some(Duration::from_micros(*retry_after)),
            Self::Admitted { .. } | Self::Impossible => None,
        }
    }

    /// How long an admitted request is held before it may leave.
    pub const fn delay(&self) -> Duration {
        match self {
            Self::Admitted { delay } => Duration::from_micros(*delay),
            Self::Limited { .. } | Self::Impossible => Duration::ZERO,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What one limit says of one request: whether it passes, what is left, and when there is more.
///
/// Of an admitted request it speaks after the charge, of a refused one as things stand.
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
    pub(crate) outcome: Outcome,
    pub(crate) remaining: u64,
    pub(crate) reset_after: Micros,
}

impl Verdict {
    /// What it comes to after so long, if nothing has happened since. A wait is not over before somebody has asked again.
    pub(crate) fn after(self, gone: Micros) -> Self {
        let outcome = match self.outcome {
            Outcome::Limited { retry_after } => Outcome::Limited {
                retry_after: retry_after.saturating_sub(gone).max(1),
            },
            outcome => outcome,
        };
        Self {
            outcome,
            reset_after: self.reset_after.saturating_sub(gone),
            ..self
        }
    }

    /// Whether the request passes.
    pub const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// What is still there to spend.
    pub const fn remaining(&self) -> u64 {
        self.remaining
    }

    /// When to come back; only a limited request is promised a time.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.outcome.retry_after()
    }

    /// How long until the limit is as good as new; zero when it is.
    pub const fn reset_after(&self) -> Duration {
        Duration::from_micros(self.reset_after)
    }

    /// How long an admitted request is held before it may leave.
    pub const fn delay(&self) -> Duration {
        self.outcome.delay()
    }
}
