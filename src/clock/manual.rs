//! A clock that tests advance by hand.

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

use crate::time::{MAX_TIMESTAMP, Micros, micros};

/// A clock that only moves when it is advanced, for tests without sleeping.
///
/// Clones share the time. Advancing it wakes the sleeps that are due, in the order of their deadlines.
/// [The guide](crate::guide::testing) shows how to test a service with it, including requests that wait.
///
/// ```
/// use std::time::Duration;
/// use tollgate::{Key, Limit, ManualClock, MemoryStore, Quota, SlidingLog};
///
/// let clock = ManualClock::at(0);
/// let store = MemoryStore::builder().clock(clock.clone()).build();
/// let (limit, key) = (Limit::new("login", SlidingLog::new(Quota::per_hour(1))), Key::new("user:1"));
/// let admits = || store.acquire(&limit, &key, 1).outcome().admits();
///
/// assert!(admits());
/// clock.advance(Duration::from_micros(60 * 60 * 1_000_000 - 1));
/// assert!(!admits());
/// clock.advance(Duration::from_micros(1)); // an hour in total
/// assert!(admits());
/// ```
#[derive(Clone)]
pub struct ManualClock(Arc<Inner>);

#[derive(Default)]
struct Inner {
    now: AtomicU64,
    next_id: AtomicU64,
    sleepers: Mutex<BTreeMap<(Micros, u64), Waker>>,
}

impl ManualClock {
    /// A clock at `now`, in microseconds since the Unix epoch.
    pub fn at(now: Micros) -> Self {
        let clock = Self(Arc::default());
        clock.set(now);
        clock
    }

    /// The current time, in microseconds since the Unix epoch.
    pub fn now(&self) -> Micros {
        self.0.now.load(Ordering::SeqCst)
    }

    /// Advances the time by `duration`.
    pub fn advance(&self, duration: Duration) {
        self.update(|now| now.saturating_add(micros(duration)));
    }

    /// Sets the time, which may be an earlier one.
    pub fn set(&self, now: Micros) {
        self.update(|_| now);
    }

    fn update(&self, next: impl FnOnce(Micros) -> Micros) {
        let due = {
            let mut sleepers = self.sleepers();
            let now = next(self.now()).min(MAX_TIMESTAMP);
            self.0.now.store(now, Ordering::SeqCst);
            let later = sleepers.split_off(&(now + 1, 0));
            std::mem::replace(&mut *sleepers, later)
        };
        due.into_values().for_each(Waker::wake);
    }

    /// The number of pending sleeps.
    pub fn pending_sleeps(&self) -> usize {
        self.sleepers().len()
    }

    pub(super) fn sleep(&self, duration: Duration) -> ManualSleep {
        let deadline = self.now().saturating_add(micros(duration)).min(MAX_TIMESTAMP);
        let id = self.0.next_id.fetch_add(1, Ordering::Relaxed);
        ManualSleep {
            clock: self.clone(),
            entry: (deadline, id),
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

/// A sleep on a [`ManualClock`].
#[derive(Debug)]
pub(super) struct ManualSleep {
    clock: ManualClock,
    entry: (Micros, u64),
}

impl ManualSleep {
    pub(super) fn poll(&self, context: &Context<'_>) -> Poll<()> {
        // The time changes only under this lock, so no wake-up is missed between the check and the insertion.
        let mut sleepers = self.clock.sleepers();
        if self.clock.now() >= self.entry.0 {
            return Poll::Ready(());
        }
        let replaced = sleepers.insert(self.entry, context.waker().clone());
        drop(sleepers);
        // Dropped after the lock is released: a waker may own another sleep on this clock, whose drop takes the lock.
        drop(replaced);
        Poll::Pending
    }
}

impl Drop for ManualSleep {
    fn drop(&mut self) {
        let removed = self.clock.sleepers().remove(&self.entry);
        drop(removed);
    }
}
