//! Enums over the six algorithms and over their states.

use std::{
    borrow::{Borrow, BorrowMut},
    fmt,
};

use super::{
    Algorithm, BucketState, Concurrency, ConcurrencyState, FixedWindow, FixedWindowState, LeakyBucket, Mark,
    SlidingCounter, SlidingCounterState, SlidingLog, SlidingLogState, TokenBucket, algorithm::Sealed,
};
use crate::{
    config_error::ConfigError,
    quota::{Cost, Quota},
    time::Micros,
    verdict::Verdict,
};

/// Any of the six algorithms, as stores take it. It is an [`Algorithm`] itself, for choices at run time.
///
/// ```
/// use tollgate::{Algorithm, Quota, SlidingLog, TokenBucket};
///
/// let strict = true;
/// let quota = Quota::per_minute(5);
/// let algorithm = if strict { SlidingLog::new(quota).to_any() } else { TokenBucket::new(quota).to_any() };
/// assert_eq!(algorithm.name(), "sliding_log");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnyAlgorithm {
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
    /// `concurrency`
    Concurrency(Concurrency),
}

/// Evaluates one expression with the concrete algorithm.
macro_rules! each {
    ($any:expr, $algorithm:ident => $body:expr) => {
        match $any {
            AnyAlgorithm::TokenBucket($algorithm) => $body,
            AnyAlgorithm::LeakyBucket($algorithm) => $body,
            AnyAlgorithm::FixedWindow($algorithm) => $body,
            AnyAlgorithm::SlidingLog($algorithm) => $body,
            AnyAlgorithm::SlidingCounter($algorithm) => $body,
            AnyAlgorithm::Concurrency($algorithm) => $body,
        }
    };
}

/// The names of the six algorithms, as in rules files and Redis keys.
#[cfg(any(feature = "redis", feature = "rules"))]
pub(crate) const ALGORITHMS: [&str; 6] = [
    "token_bucket",
    "leaky_bucket",
    "fixed_window",
    "sliding_log",
    "sliding_counter",
    "concurrency",
];

impl AnyAlgorithm {
    /// The algorithm's name, as in rules files and Redis keys.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::TokenBucket(_) => "token_bucket",
            Self::LeakyBucket(_) => "leaky_bucket",
            Self::FixedWindow(_) => "fixed_window",
            Self::SlidingLog(_) => "sliding_log",
            Self::SlidingCounter(_) => "sliding_counter",
            Self::Concurrency(_) => "concurrency",
        }
    }

    /// The quota; `None` for a `concurrency` limit, which has no window.
    pub const fn quota(&self) -> Option<Quota> {
        match self {
            Self::TokenBucket(algorithm) => Some(algorithm.bucket.quota),
            Self::LeakyBucket(algorithm) => Some(algorithm.bucket.quota),
            Self::FixedWindow(algorithm) => Some(algorithm.quota),
            Self::SlidingLog(algorithm) => Some(algorithm.quota),
            Self::SlidingCounter(algorithm) => Some(algorithm.quota),
            Self::Concurrency(_) => None,
        }
    }

    /// The maximal cost that can be charged at once: a bucket's capacity, another's limit.
    pub const fn capacity(&self) -> u32 {
        match self {
            Self::TokenBucket(algorithm) => algorithm.bucket.capacity,
            Self::LeakyBucket(algorithm) => algorithm.bucket.capacity,
            Self::FixedWindow(algorithm) => algorithm.quota.limit(),
            Self::SlidingLog(algorithm) => algorithm.quota.limit(),
            Self::SlidingCounter(algorithm) => algorithm.quota.limit(),
            Self::Concurrency(algorithm) => algorithm.limit,
        }
    }

    /// What it allows, for people: `100 per 60s`, or `20 at once`.
    ///
    /// ```
    /// use tollgate::{Algorithm, Concurrency, Quota, TokenBucket};
    ///
    /// assert_eq!(TokenBucket::new(Quota::per_minute(100)).to_any().allowance(), "100 per 60s");
    /// assert_eq!(Concurrency::new(20).to_any().allowance(), "20 at once");
    /// ```
    pub fn allowance(&self) -> String {
        match self.quota() {
            Some(quota) => quota.to_string(),
            None => format!("{} at once", self.capacity()),
        }
    }

    /// Whether it limits what is held at once, so that a charge counts until it is released.
    pub const fn is_concurrency(&self) -> bool {
        matches!(self, Self::Concurrency(_))
    }

    /// The same algorithm with another quota, or an error if they are incompatible.
    ///
    /// If a bucket's capacity equals the limit of its quota, it becomes the new limit; any other capacity is kept. A `concurrency` limit
    /// takes over the number only, since it has no window.
    ///
    /// ```
    /// use tollgate::{Algorithm, Quota, TokenBucket};
    ///
    /// let free = TokenBucket::new(Quota::per_minute(10)).to_any();
    /// let pro = free.try_quota(Quota::per_minute(1000))?;
    /// assert_eq!(pro.capacity(), 1000);
    /// # Ok::<(), tollgate::ConfigError>(())
    /// ```
    pub fn try_quota(&self, quota: Quota) -> Result<Self, ConfigError> {
        let capacity = match self.quota() {
            Some(old) if old.limit() != self.capacity() => self.capacity(),
            _ => quota.limit(),
        };
        Ok(match *self {
            Self::TokenBucket(_) => TokenBucket::try_with_capacity(quota, capacity)?.to_any(),
            Self::LeakyBucket(LeakyBucket { queue, max_wait, .. }) => {
                let bucket = LeakyBucket::try_with_capacity(quota, capacity)?;
                Self::LeakyBucket(LeakyBucket {
                    queue,
                    max_wait,
                    ..bucket
                })
            }
            Self::FixedWindow(fixed) => Self::FixedWindow(FixedWindow { quota, ..fixed }),
            Self::SlidingLog(_) => SlidingLog::try_new(quota)?.to_any(),
            Self::SlidingCounter(counter) => SlidingCounter::new(quota)
                .try_sub_windows(counter.sub_windows)?
                .to_any(),
            Self::Concurrency(concurrency) => Self::Concurrency(Concurrency {
                limit: quota.limit(),
                ..concurrency
            }),
        })
    }

    /// The state that is displayed as this text; `None` if this algorithm has no such state.
    ///
    /// For [stores](crate::Store) that keep states as texts.
    ///
    /// ```
    /// use tollgate::{Algorithm, FixedWindow, Quota, State};
    ///
    /// let algorithm = FixedWindow::new(Quota::per_minute(10)).to_any();
    /// let mut state = State::Fresh;
    /// algorithm.acquire(&mut state, 90_000_000, 3);
    /// assert_eq!(algorithm.parse_state(&state.to_string()), Some(state));
    /// assert_eq!(algorithm.parse_state(""), Some(State::Fresh));
    /// assert_eq!(algorithm.parse_state("garbage"), None);
    /// ```
    pub fn parse_state(&self, text: &str) -> Option<State> {
        if text.is_empty() {
            return Some(State::Fresh);
        }
        let numbers = text.split(' ').map(|number| number.parse().ok());
        let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
        Some(match self {
            Self::TokenBucket(_) | Self::LeakyBucket(_) => State::Bucket(BucketState::from_numbers(&numbers)?),
            Self::FixedWindow(_) => State::FixedWindow(FixedWindowState::from_numbers(&numbers)?),
            Self::SlidingLog(_) => State::SlidingLog(SlidingLogState::from_numbers(&numbers)?.into()),
            Self::SlidingCounter(counter) => State::SlidingCounter(counter.state_from_numbers(&numbers)?),
            Self::Concurrency(_) => State::Concurrency(ConcurrencyState::from_numbers(&numbers)?.into()),
        })
    }

    /// Whether it may delay requests that it admits.
    pub const fn is_queueing(&self) -> bool {
        matches!(self, Self::LeakyBucket(LeakyBucket { queue: true, .. }))
    }

    /// The time in which a whole quota becomes available: the window, or the time in which a full bucket drains. `None` if that is not
    /// known.
    pub(crate) const fn quota_period(&self) -> Option<Micros> {
        Some(match self {
            Self::TokenBucket(algorithm) => algorithm.bucket.drain_time(),
            Self::LeakyBucket(algorithm) => algorithm.bucket.drain_time(),
            Self::FixedWindow(algorithm) => algorithm.quota.window_micros(),
            Self::SlidingLog(algorithm) => algorithm.quota.window_micros(),
            Self::SlidingCounter(algorithm) => algorithm.quota.window_micros(),
            Self::Concurrency(_) => return None,
        })
    }

    /// The longest delay of an admitted request, if there is a maximum.
    pub(crate) const fn max_wait(&self) -> Option<Micros> {
        match self {
            Self::LeakyBucket(LeakyBucket {
                queue: true, max_wait, ..
            }) => *max_wait,
            _ => None,
        }
    }

    /// The units of backlog per token of a bucket; 0 for others.
    #[cfg(feature = "redis")]
    pub(crate) const fn unit(&self) -> u64 {
        match self {
            Self::TokenBucket(algorithm) => algorithm.bucket.unit.get(),
            Self::LeakyBucket(algorithm) => algorithm.bucket.unit.get(),
            Self::FixedWindow(_) | Self::SlidingLog(_) | Self::SlidingCounter(_) | Self::Concurrency(_) => 0,
        }
    }
}

impl Sealed for AnyAlgorithm {}

impl Algorithm for AnyAlgorithm {
    type State = State;

    fn peek(&self, state: &State, now: Micros, cost: Cost) -> Verdict {
        each!(self, algorithm => peek(algorithm, state, now, cost))
    }

    fn commit(&self, state: &mut State, now: Micros, cost: Cost) -> Mark {
        each!(self, algorithm => algorithm.commit(Stored::stored_mut(state), now, cost))
    }

    #[inline]
    fn acquire(&self, state: &mut State, now: Micros, cost: Cost) -> (Verdict, Option<Mark>) {
        each!(self, algorithm => algorithm.acquire(Stored::stored_mut(state), now, cost))
    }

    fn refund(&self, state: &mut State, now: Micros, mark: Mark, cost: Cost) {
        each!(self, algorithm => algorithm.refund(Stored::stored_mut(state), now, mark, cost));
    }

    fn settle(&self, state: &mut State, now: Micros, mark: Mark, cost: Cost, to: Cost) {
        each!(self, algorithm => algorithm.settle(Stored::stored_mut(state), now, mark, cost, to));
    }

    fn overcharge(&self, state: &mut State, now: Micros, surplus: Cost) {
        each!(self, algorithm => algorithm.overcharge(Stored::stored_mut(state), now, surplus));
    }

    fn expires_at(&self, state: &State) -> Micros {
        each!(self, algorithm => expires_at(algorithm, state))
    }

    fn to_any(&self) -> AnyAlgorithm {
        *self
    }
}

/// The state of any of the algorithms. It is displayed as the numbers that Redis stores, separated by spaces.
///
/// ```
/// use tollgate::{FixedWindow, Key, Limit, ManualClock, MemoryStore, Quota};
///
/// let store = MemoryStore::builder().clock(ManualClock::at(90_000_000)).build();
/// let limit = Limit::new("minute", FixedWindow::new(Quota::per_minute(10)));
/// store.acquire(&limit, &Key::GLOBAL, 3);
/// assert_eq!(store.state(&limit, &Key::GLOBAL).unwrap().to_string(), "60000000 3"); // the window's start and its count
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum State {
    /// Nothing is charged, or the state has expired.
    #[default]
    Fresh,
    /// The state of a `token_bucket` or a `leaky_bucket`.
    Bucket(BucketState),
    /// The state of a `fixed_window`.
    FixedWindow(FixedWindowState),
    /// The state of a `sliding_log`.
    SlidingLog(Box<SlidingLogState>),
    /// The state of a `sliding_counter`.
    SlidingCounter(SlidingCounterState),
    /// The state of a `concurrency` limit.
    Concurrency(Box<ConcurrencyState>),
}

impl State {
    /// The state of a bucket.
    pub(crate) fn bucket(&self) -> Option<BucketState> {
        match self {
            Self::Bucket(bucket) => Some(*bucket),
            _ => None,
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fresh => Ok(()),
            Self::Bucket(state) => state.fmt(f),
            Self::FixedWindow(state) => state.fmt(f),
            Self::SlidingLog(state) => state.fmt(f),
            Self::SlidingCounter(state) => state.fmt(f),
            Self::Concurrency(state) => state.fmt(f),
        }
    }
}

/// Access to the state of one algorithm inside a [`State`]. The state of another algorithm counts as fresh.
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
                    _ => unreachable!("assigned above"),
                }
            }
        }
    )*};
}

stored! {
    Bucket: BucketState,
    FixedWindow: FixedWindowState,
    SlidingLog: SlidingLogState,
    SlidingCounter: SlidingCounterState,
    Concurrency: ConcurrencyState
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
