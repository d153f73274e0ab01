//! A limit as the data that travels: any of the five algorithms, and any of their states.

use std::{
    borrow::{Borrow, BorrowMut},
    fmt,
};

use super::{
    Algorithm, BucketState, FixedWindow, FixedWindowState, LeakyBucket, Mark, SlidingCounter, SlidingCounterState,
    SlidingLog, SlidingLogState, TokenBucket, sealed::Sealed,
};
use crate::{
    invalid::Invalid,
    quota::{Cost, Quota},
    time::Micros,
    verdict::Verdict,
};

/// Any of the five algorithms: what stores are sent, and an [`Algorithm`] itself where the choice is made at run time.
///
/// ```
/// use tollgate::{Algorithm, Quota, Rule, SlidingLog, TokenBucket};
///
/// let strict = true;
/// let quota = Quota::per_minute(5);
/// let rule = if strict { SlidingLog::new(quota).rule() } else { TokenBucket::new(quota).rule() };
/// assert_eq!(rule.name(), "sliding_log");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// `token_bucket`
    TokenBucket(TokenBucket),
    /// `leaky_bucket`
    LeakyBucket(LeakyBucket),
    /// `fixed_window`
    FixedWindow(FixedWindow),
    /// `sliding_log`
    SlidingLog(SlidingLog),
    /// `sliding_counter`
    SlidingCounter(SlidingCounter),
}

/// The same expression for whichever algorithm it is.
macro_rules! each {
    ($rule:expr, $algorithm:ident => $body:expr) => {
        match $rule {
            Rule::TokenBucket($algorithm) => $body,
            Rule::LeakyBucket($algorithm) => $body,
            Rule::FixedWindow($algorithm) => $body,
            Rule::SlidingLog($algorithm) => $body,
            Rule::SlidingCounter($algorithm) => $body,
        }
    };
}

/// The names of the five, as rules files, Redis keys, metrics and docs spell them.
#[cfg(any(feature = "redis", feature = "rules"))]
pub(crate) const ALGORITHMS: [&str; 5] = [
    "token_bucket",
    "leaky_bucket",
    "fixed_window",
    "sliding_log",
    "sliding_counter",
];

impl Rule {
    /// The algorithm's name, as rules files, Redis keys, metrics and docs spell it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::TokenBucket(_) => "token_bucket",
            Self::LeakyBucket(_) => "leaky_bucket",
            Self::FixedWindow(_) => "fixed_window",
            Self::SlidingLog(_) => "sliding_log",
            Self::SlidingCounter(_) => "sliding_counter",
        }
    }

    /// How much, in how long.
    pub const fn quota(&self) -> Quota {
        match self {
            Self::TokenBucket(rule) => rule.bucket.quota,
            Self::LeakyBucket(rule) => rule.bucket.quota,
            Self::FixedWindow(rule) => rule.quota,
            Self::SlidingLog(rule) => rule.quota,
            Self::SlidingCounter(rule) => rule.quota,
        }
    }

    /// The most that can be spent at once: a bucket's capacity, a window's limit.
    pub const fn capacity(&self) -> u32 {
        match self {
            Self::TokenBucket(rule) => rule.bucket.capacity,
            Self::LeakyBucket(rule) => rule.bucket.capacity,
            Self::FixedWindow(_) | Self::SlidingLog(_) | Self::SlidingCounter(_) => self.quota().limit(),
        }
    }

    /// The same rule with another quota, unless the two do not go together.
    ///
    /// A bucket that holds one quota's worth goes on doing so; one that was given another capacity keeps it.
    ///
    /// ```
    /// use tollgate::{Algorithm, Quota, TokenBucket};
    ///
    /// let free = TokenBucket::new(Quota::per_minute(10)).rule();
    /// let pro = free.try_quota(Quota::per_minute(1000))?;
    /// assert_eq!(pro.capacity(), 1000);
    /// # Ok::<(), tollgate::Invalid>(())
    /// ```
    pub fn try_quota(&self, quota: Quota) -> Result<Self, Invalid> {
        let capacity = match self.capacity() == self.quota().limit() {
            true => quota.limit(),
            false => self.capacity(),
        };
        Ok(match *self {
            Self::TokenBucket(_) => TokenBucket::try_with_capacity(quota, capacity)?.rule(),
            Self::LeakyBucket(LeakyBucket { queue, max_wait, .. }) => {
                let bucket = LeakyBucket::try_with_capacity(quota, capacity)?;
                Self::LeakyBucket(LeakyBucket {
                    queue,
                    max_wait,
                    ..bucket
                })
            }
            Self::FixedWindow(rule) => Self::FixedWindow(FixedWindow { quota, ..rule }),
            Self::SlidingLog(_) => SlidingLog::try_new(quota)?.rule(),
            Self::SlidingCounter(rule) => SlidingCounter::new(quota).try_buckets(rule.buckets)?.rule(),
        })
    }

    /// Whether it holds requests back, so that one which has been admitted may still have to wait.
    pub const fn queues(&self) -> bool {
        matches!(self, Self::LeakyBucket(LeakyBucket { queue: true, .. }))
    }

    /// What a token is worth in a bucket's units; 0 for windows.
    #[cfg(feature = "redis")]
    pub(crate) const fn unit(&self) -> u64 {
        match self {
            Self::TokenBucket(rule) => rule.bucket.unit,
            Self::LeakyBucket(rule) => rule.bucket.unit,
            Self::FixedWindow(_) | Self::SlidingLog(_) | Self::SlidingCounter(_) => 0,
        }
    }
}

impl Sealed for Rule {}

impl Algorithm for Rule {
    type State = State;

    fn peek(&self, state: &State, now: Micros, cost: Cost) -> Verdict {
        each!(self, algorithm => peek(algorithm, state, now, cost))
    }

    fn commit(&self, state: &mut State, now: Micros, cost: Cost) -> Mark {
        each!(self, algorithm => algorithm.commit(Stored::stored_mut(state), now, cost))
    }

    fn acquire(&self, state: &mut State, now: Micros, cost: Cost) -> (Verdict, Option<Mark>) {
        each!(self, algorithm => algorithm.acquire(Stored::stored_mut(state), now, cost))
    }

    fn refund(&self, state: &mut State, now: Micros, mark: Mark, cost: Cost) {
        each!(self, algorithm => algorithm.refund(Stored::stored_mut(state), now, mark, cost));
    }

    fn overcharge(&self, state: &mut State, now: Micros, surplus: Cost) {
        each!(self, algorithm => algorithm.overcharge(Stored::stored_mut(state), now, surplus));
    }

    fn expires_at(&self, state: &State) -> Micros {
        each!(self, algorithm => expires_at(algorithm, state))
    }

    fn rule(&self) -> Rule {
        *self
    }
}

/// The state of any of the algorithms. It displays as the numbers that Redis keeps, with blanks in between.
///
/// ```
/// use tollgate::{FixedWindow, Key, Limit, ManualClock, MemoryStore, Quota};
///
/// let store = MemoryStore::builder().clock(ManualClock::at(90_000_000)).build();
/// let limit = Limit::new("minute", FixedWindow::new(Quota::per_minute(10)));
/// store.acquire(&limit, &Key::GLOBAL, 3);
/// assert_eq!(store.state(&limit, &Key::GLOBAL).unwrap().to_string(), "60000000 3"); // since when, and how many
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum State {
    /// Nothing has been charged, or it no longer counts.
    #[default]
    Fresh,
    /// Of a `token_bucket` or a `leaky_bucket`.
    Bucket(BucketState),
    /// Of a `fixed_window`.
    FixedWindow(FixedWindowState),
    /// Of a `sliding_log`.
    SlidingLog(Box<SlidingLogState>),
    /// Of a `sliding_counter`.
    SlidingCounter(SlidingCounterState),
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fresh => Ok(()),
            Self::Bucket(state) => state.fmt(f),
            Self::FixedWindow(state) => state.fmt(f),
            Self::SlidingLog(state) => state.fmt(f),
            Self::SlidingCounter(state) => state.fmt(f),
        }
    }
}

/// An algorithm's own state inside a [`State`]. That of another algorithm counts as none.
trait Stored: Default {
    fn stored(state: &State) -> Option<&Self>;
    fn stored_mut(state: &mut State) -> &mut Self;
}

macro_rules! stored {
    ($($variant:ident: $state:ty),*) => {$(
        impl Stored for $state {
            fn stored(state: &State) -> Option<&Self> {
                match state {
                    State::$variant(state) => Some(state.borrow()),
                    _ => None,
                }
            }

            fn stored_mut(state: &mut State) -> &mut Self {
                if Self::stored(state).is_none() {
                    *state = State::$variant(Default::default());
                }
                match state {
                    State::$variant(state) => state.borrow_mut(),
                    _ => unreachable!("it has just been made one"),
                }
            }
        }
    )*};
}

stored! {
    Bucket: BucketState,
    FixedWindow: FixedWindowState,
    SlidingLog: SlidingLogState,
    SlidingCounter: SlidingCounterState
}

fn peek<A: Algorithm<State: Stored>>(algorithm: &A, state: &State, now: Micros, cost: Cost) -> Verdict {
    match Stored::stored(state) {
        Some(state) => algorithm.peek(state, now, cost),
        None => algorithm.peek(&Default::default(), now, cost),
    }
}

fn expires_at<A: Algorithm<State: Stored>>(algorithm: &A, state: &State) -> Micros {
    Stored::stored(state).map_or(0, |state| algorithm.expires_at(state))
}
