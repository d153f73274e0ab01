//! The time that a test holds in its hand.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use crate::time::{END_OF_TIME, Micros, micros};

/// A clock that stands still until it is told to move, so that services can be tested without sleeping.
///
/// Clones show the same time. Moving it forward wakes whoever waits on it, in the order of their times.
/// [The guide](crate::guide::testing) shows how to test a service with it, with requests that wait too.
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Key, Limit, ManualClock, MemoryStore, Quota, SlidingLog};
///
/// let clock = ManualClock::at(0);
/// let store = MemoryStore::builder().clock(clock.clone()).build();
/// let (limit, key) = (Limit::new("login", SlidingLog::new(Quota::per_hour(1))), Key::new("user:1"));
/// let passes = || store.acquire(&limit, &key, 1).outcome().admits();
///
/// assert!(passes());
/// clock.advance(Duration::from_micros(60 * 60 * 1_000_000 - 1));
/// assert!(!passes());
/// clock.advance(Duration::from_micros(1)); // an hour in all
/// assert!(passes());
/// ```
#[derive(Clone)]
pub struct ManualClock(Arc<Dial>);

#[derive(Default)]
struct Dial {
    now: AtomicU64,
    tickets: AtomicU64,
    sleepers: Mutex<BTreeMap<(Micros, u64), Waker>>,
}

impl ManualClock {
    /// A clock that shows `now`, in microseconds since the Unix epoch.
    pub fn at(now: Micros) -> Self {
        let clock = Self(Arc::default());
        clock.set(now);
        clock
    }

    /// The time it shows.
    pub fn now(&self) -> Micros {
        self.0.now.load(Ordering::SeqCst)
    }

    /// Lets `span` go by.
    pub fn advance(&self, span: Duration) {
        self.turn(|now| now.saturating_add(micros(span)));
    }

    /// Shows another time, which may be an earlier one.
    pub fn set(&self, now: Micros) {
        self.turn(|_| now);
    }

    fn turn(&self, to: impl FnOnce(Micros) -> Micros) {
        let due = {
            let mut sleepers = self.sleepers();
            let now = to(self.now()).min(END_OF_TIME);
            self.0.now.store(now, Ordering::SeqCst);
            let later = sleepers.split_off(&(now + 1, 0));
            std::mem::replace(&mut *sleepers, later)
        };
        due.into_values().for_each(Waker::wake);
    }

    /// How many waits are pending on it.
    pub fn waiting(&self) -> usize {
        self.sleepers().len()
    }

    pub(super) fn alarm(&self, span: Duration) -> Alarm {
        let until = self.now().saturating_add(micros(span)).min(END_OF_TIME);
        let ticket = self.0.tickets.fetch_add(1, Ordering::Relaxed);
        Alarm {
            clock: self.clone(),
            place: (until, ticket),
        }
    }

    fn sleepers(&self) -> MutexGuard<'_, BTreeMap<(Micros, u64), Waker>> {
        self.0.sleepers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManualClock").field(&self.now()).finish()
    }
}

/// A wait on a [`ManualClock`].
#[derive(Debug)]
pub(super) struct Alarm {
    clock: ManualClock,
    place: (Micros, u64),
}

impl Alarm {
    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<()> {
        // The lock is what the time is moved under, so no wake-up falls between the look and the entry.
        let mut sleepers = self.clock.sleepers();
        if self.clock.now() >= self.place.0 {
            return Poll::Ready(());
        }
        let replaced = sleepers.insert(self.place, context.waker().clone());
        drop(sleepers);
        // A waker may own what waits on this clock too, so it is let go of only now.
        drop(replaced);
        Poll::Pending
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        let removed = self.clock.sleepers().remove(&self.place);
        drop(removed);
    }
}
