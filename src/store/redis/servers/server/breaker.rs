//! Whether a Redis is worth asking.
//!
//! A Redis that keeps failing is not asked any more: nobody should wait for an answer that will not come. While it is
//! not, a task of the store's own finds out when it is back (`probe`), so that no request has to.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use crate::{measure, store::redis::error::StoreError};

/// Of this many calls,
const CALLS: u32 = 10;

/// so many that failed are too many. It is calls that count: how many requests share one says nothing about Redis.
const FAILURES: u32 = 3;

/// How long to keep quiet about failures after one has been reported.
const QUIET: Duration = Duration::from_secs(10);

pub(crate) struct Breaker {
    address: Arc<str>,
    /// The last calls, a bit each, the latest lowest: whether it failed.
    calls: AtomicU32,
    /// Whether it is open, so that nobody waits for a lock to see that it is not.
    is_open: AtomicBool,
    open: Mutex<Option<Open>>,
    probed: AtomicBool,
    /// When a connection was last lost.
    lost: Mutex<Option<Instant>>,
    /// When a failure was last reported: one that heals, and one that does not.
    reported: [Mutex<Option<Instant>>; 2],
}

/// What is known of a Redis that is not asked.
pub(crate) struct Open {
    pub(crate) since: Instant,
    pub(crate) why: StoreError,
    turned_away: usize,
}

impl Breaker {
    pub(crate) fn new(address: &str) -> Self {
        // So that it is known of before it fails.
        measure::breaker(address, 0);
        Self {
            address: address.into(),
            calls: AtomicU32::new(0),
            is_open: AtomicBool::new(false),
            open: Mutex::default(),
            probed: AtomicBool::new(false),
            lost: Mutex::default(),
            reported: Default::default(),
        }
    }

    pub(crate) fn address(&self) -> &Arc<str> {
        &self.address
    }

    pub(crate) fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether to ask, on behalf of so many requests.
    pub(crate) fn check(&self, requests: usize) -> Result<(), StoreError> {
        if !self.is_open.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut open = self.open();
        let Some(open) = &mut *open else { return Ok(()) };
        open.turned_away += requests;
        Err(StoreError::down(&self.address, &open.why))
    }

    /// A call was answered, whatever the answer.
    pub(crate) fn answered(&self) {
        // Most calls follow upon calls that were answered, and change nothing.
        if self.calls.load(Ordering::Relaxed) != 0 {
            self.count(0);
        }
    }

    /// A call failed in a way that others would.
    pub(crate) fn failed(&self, why: &StoreError) {
        if self.count(1) < FAILURES {
            return self.report(why);
        }
        let mut open = self.open();
        if open.is_none() {
            let (since, turned_away) = (Instant::now(), 0);
            *open = Some(Open {
                since,
                why: why.clone(),
                turned_away,
            });
            self.is_open.store(true, Ordering::Release);
            measure::breaker(&self.address, 1);
            let address = &self.address;
            match why.heals() {
                true => tracing::warn!(%address, %why, "Redis is not asked until it answers again"),
                false => tracing::error!(%address, %why, "Redis is not asked until somebody sees to it"),
            }
        }
    }

    /// Whether the loss of a connection that was made at that time tells anything new. What befalls one often befalls all:
    /// those that were there when another was lost are part of the same failure, and not one each.
    pub(crate) fn is_news_of(&self, made: Instant) -> bool {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = lost.is_none_or(|lost| made >= lost);
        if is_news {
            *lost = Some(Instant::now());
        }
        is_news
    }

    /// Remembers how a call went, and tells how many of the last have failed.
    fn count(&self, failed: u32) -> u32 {
        let next = |calls: u32| ((calls << 1) | failed) & ((1 << CALLS) - 1);
        let before = self
            .calls
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |calls| Some(next(calls)));
        before.map_or(0, |calls| next(calls).count_ones())
    }

    /// It answers again.
    pub(crate) fn close(&self) {
        let mut open = self.open();
        if let Some(Open { since, turned_away, .. }) = open.take() {
            self.calls.store(0, Ordering::Relaxed);
            self.is_open.store(false, Ordering::Release);
            measure::breaker(&self.address, -1);
            let (address, down_for) = (&self.address, since.elapsed());
            tracing::info!(%address, ?down_for, requests = turned_away, "Redis answers again; these requests were decided without it");
        }
    }

    /// Says that a call has failed, unless that has just been said.
    pub(crate) fn report(&self, why: &StoreError) {
        let reported = &self.reported[usize::from(why.heals())];
        let mut reported = reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.is_some_and(|at| at.elapsed() < QUIET) {
            return;
        }
        *reported = Some(Instant::now());
        let address = &self.address;
        match why.heals() {
            true => tracing::warn!(%address, %why, "a call to Redis failed"),
            false => {
                tracing::error!(%address, %why, "a call to Redis failed, and so will others until somebody sees to it")
            }
        }
    }

    /// The right to find out when it is back, for one at a time and while it is open.
    pub(crate) fn probing(self: &Arc<Self>) -> Option<Probing> {
        let is_open = self.is_open.load(Ordering::Acquire);
        (is_open && !self.probed.swap(true, Ordering::AcqRel)).then(|| Probing(Arc::clone(self)))
    }
}

/// A server that has left its cluster, or whose store is gone, is nobody's concern any more.
impl Drop for Breaker {
    fn drop(&mut self) {
        if self.open().is_some() {
            measure::breaker(&self.address, -1);
        }
    }
}

/// Somebody is finding out when a Redis is back.
pub(crate) struct Probing(pub(crate) Arc<Breaker>);

/// A runtime that ends takes its tasks with it: then somebody else may.
impl Drop for Probing {
    fn drop(&mut self) {
        self.0.probed.store(false, Ordering::Release);
    }
}
