//! The leases of all keys.

use std::{
    hash::BuildHasher,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use foldhash::quality::RandomState;
use hashbrown::HashTable;
use smallvec::SmallVec;
use tokio::{sync::Notify, time::Instant};

use super::{
    hot_keys::HotKeys,
    key_leases::{Answer, KeyLeases, Returned, Spent},
};
use crate::{
    algorithm::Mark,
    charge::{Charge, Charges},
    decision::TierDecision,
    key::Key,
    limit::Limit,
    metrics::UnitOutcome,
    quota::Cost,
    receipt::Charged,
    time::Micros,
};

const SHARDS: usize = 16;

/// The maximal number of keys per shard that are leased at a time.
const MAX_KEYS: usize = 1024;

/// What this node holds, for all keys.
pub(crate) struct Leases {
    hasher: RandomState,
    hot_keys: HotKeys,
    /// The number of keys, so that requests take no lock while there is none.
    keys: AtomicUsize,
    shards: [Mutex<HashTable<LeasedKey>>; SHARDS],
    /// What has to be returned to Redis.
    returned: Mutex<Vec<Charged>>,
    /// Wakes up the task that returns units.
    pub(super) wake_returner: Notify,
    /// When that task runs next, in microseconds since the start; 0 if there is none, and the maximum while it runs.
    pub(super) returner_due: AtomicU64,
    start: Instant,
    calls: Arc<CallsInFlight>,
}

/// The calls that ask for leases or return units.
#[derive(Default)]
struct CallsInFlight {
    count: AtomicUsize,
    ended: Notify,
}

/// A call that asks for a lease or returns units, while it is in flight.
pub(crate) struct InFlight(Arc<CallsInFlight>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::AcqRel);
        self.0.ended.notify_waiters();
    }
}

struct LeasedKey {
    key: Key,
    leases: KeyLeases,
}

/// What was taken for the tiers of a request; `None` for those that Redis decides about.
pub(crate) type Held = SmallVec<[Option<Spent>; 3]>;

impl Leases {
    pub(crate) fn new() -> Self {
        Self {
            hasher: RandomState::default(),
            hot_keys: HotKeys::new(),
            keys: AtomicUsize::new(0),
            shards: std::array::from_fn(|_| Mutex::default()),
            returned: Mutex::default(),
            wake_returner: Notify::new(),
            returner_due: AtomicU64::new(0),
            start: Instant::now(),
            calls: Arc::default(),
        }
    }

    /// A time of this node, in microseconds since the start, from 1.
    pub(super) fn micros(&self, at: Instant) -> Micros {
        1 + at.saturating_duration_since(self.start).as_micros() as Micros
    }

    fn instant(&self, micros: Micros) -> Instant {
        self.start + Duration::from_micros(micros - 1)
    }

    /// What Redis said about a tier, by a call that was answered at `received`.
    pub(super) fn answer(&self, tier: &TierDecision, now: Micros, received: Instant) -> Answer {
        Answer {
            verdict: tier.verdict(),
            now,
            received: self.micros(received),
        }
    }

    /// Marks a call as in flight.
    pub(crate) fn in_flight(&self) -> InFlight {
        self.calls.count.fetch_add(1, Ordering::AcqRel);
        InFlight(Arc::clone(&self.calls))
    }

    pub(super) fn has_calls_in_flight(&self) -> bool {
        self.calls.count.load(Ordering::Acquire) > 0
    }

    /// Waits until no call is in flight.
    pub(crate) async fn calls_ended(&self) {
        loop {
            // It is notified of what ends from here on.
            let ended = self.calls.ended.notified();
            if !self.has_calls_in_flight() {
                return;
            }
            ended.await;
        }
    }

    /// Takes units for the tiers of a request, where this node holds enough. `None` if it holds none for any.
    pub(crate) fn take(&self, charges: &Charges, now: Instant) -> Option<Held> {
        let now = self.micros(now);
        let take = |charge: &Charge| self.with_current(charge, |leases| leases.take(charge.cost, now))?;
        let held: Held = charges.iter().map(take).collect();
        held.iter().any(Option::is_some).then_some(held)
    }

    /// Puts units back that a request has taken, and returns the state after that; or how to return them to Redis.
    pub(crate) fn put_back(&self, charge: &Charge, mark: Mark, units: Cost, now: Instant) -> Result<Spent, Charged> {
        let put_back = self.with(charge, |leases| leases.put_back(mark, units, self.micros(now)));
        let put_back = put_back.unwrap_or_else(|| {
            let mark = charge.limit.algorithm().return_mark(mark, units);
            Err(Returned { units, mark })
        });
        put_back.map_err(|Returned { units, mark }| Charged::refund(charge.clone().with_cost(units), mark))
    }

    /// Forgets what is held for a key whose state is reset.
    pub(crate) fn forget(&self, charge: &Charge) {
        let hash = self.hash(charge);
        let is_same = |leased: &LeasedKey| leased.key == charge.key && leased.leases.limit().counts_as(&charge.limit);
        if let Ok(leased) = self.shard(hash).find_entry(hash, is_same) {
            leased.remove();
            self.keys.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Redis decided about a tier of a request at `now`, by a call that was answered at `received`. A hot key can be leased from then on.
    pub(crate) fn decided(&self, tier: &TierDecision, now: Micros, received: Instant) {
        let charge = &tier.charge;
        let Some(time) = charge.limit.lease_micros() else {
            return;
        };
        let (hash, answer) = (self.hash(charge), self.answer(tier, now, received));
        let is_hot = self.hot_keys.count(hash, time, answer.received);
        let charged = tier.mark.map_or(0, |_| charge.cost);
        let decided = self.with(charge, |leases| leases.decided(charged, answer));
        if decided.is_some() || !is_hot || charged == 0 {
            return;
        }
        let mut shard = self.shard(hash);
        let is_other = |leased: &LeasedKey| leased.key == charge.key && leased.leases.limit().counts_as(&charge.limit);
        if shard.len() < MAX_KEYS && shard.find(hash, is_other).is_none() {
            let (key, leases) = (charge.key.clone(), KeyLeases::new(&charge.limit, time, answer));
            let rehash = |leased: &LeasedKey| self.hash_of(leased);
            shard.insert_unique(hash, LeasedKey { key, leases }, rehash);
            self.keys.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A lease was charged by a call that was sent at `sent`.
    pub(super) fn granted(&self, charge: &Charge, mark: Mark, sent: Instant, answer: Answer) {
        let (units, sent) = (charge.cost, self.micros(sent));
        charge.limit.metrics().count_lease();
        charge.limit.metrics().count_leased_units(UnitOutcome::Leased, units);
        let granted = self.with(charge, |leases| {
            let late = leases.granted(units, mark, sent, answer);
            (late.is_none(), leases.next_return())
        });
        match granted {
            Some((true, next)) => {
                let due = self.returner_due.load(Ordering::Acquire);
                if next.is_some_and(|next| next < due) {
                    self.wake_returner.notify_one();
                }
            }
            // Late, or of another version of the limit.
            Some((false, _)) | None => {
                let mark = charge.limit.algorithm().return_mark(mark, units);
                self.push_returned(Charged::refund(charge.clone(), mark));
            }
        }
    }

    pub(crate) fn refused(&self, charge: &Charge, now: Instant) {
        self.with(charge, |leases| leases.refused(self.micros(now)));
    }

    pub(crate) fn lost(&self, charge: &Charge, now: Instant) {
        self.with(charge, |leases| leases.lost(self.micros(now)));
    }

    /// What has to be returned now, and when there will be more. Forgets idle keys.
    pub(crate) fn returned(&self, now: Instant) -> (Vec<Charged>, Option<Instant>) {
        let now = self.micros(now);
        let mut returned = std::mem::take(&mut *lock(&self.returned));
        let mut next: Option<Micros> = None;
        for shard in &self.shards {
            let mut shard = lock(shard);
            let before = shard.len();
            shard.retain(|LeasedKey { key, leases }| {
                let ended = leases.returned(now);
                returned.extend(ended.into_iter().map(|ended| charged(leases.limit(), key, ended)));
                next = [next, leases.next_return()].into_iter().flatten().min();
                !leases.is_idle(now)
            });
            self.keys.fetch_sub(before - shard.len(), Ordering::Relaxed);
        }
        (returned, next.map(|next| self.instant(next)))
    }

    /// Everything that is left, when the process ends.
    pub(crate) fn close(&self) -> Vec<Charged> {
        let mut returned = std::mem::take(&mut *lock(&self.returned));
        for shard in &self.shards {
            for LeasedKey { key, leases } in lock(shard).drain() {
                self.keys.fetch_sub(1, Ordering::Relaxed);
                let limit = leases.limit().clone();
                returned.extend(leases.into_returned().map(|returned| charged(&limit, &key, returned)));
            }
        }
        returned
    }

    /// Returns units to Redis in the background.
    pub(super) fn push_returned(&self, returned: Charged) {
        lock(&self.returned).push(returned);
        self.wake_returner.notify_one();
    }

    /// Calls a function with the leases of a charge's key and version of the limit, if there are any.
    pub(super) fn with<T>(&self, charge: &Charge, call: impl FnOnce(&mut KeyLeases) -> T) -> Option<T> {
        if !self.may_hold(charge) {
            return None;
        }
        let hash = self.hash(charge);
        let mut shard = self.shard(hash);
        let is_same = |leased: &LeasedKey| leased.key == charge.key && *leased.leases.limit() == charge.limit;
        Some(call(&mut shard.find_mut(hash, is_same)?.leases))
    }

    /// The same at the start of a request, whose version of the limit is the current one: the leases of another are returned.
    pub(super) fn with_current<T>(&self, charge: &Charge, call: impl FnOnce(&mut KeyLeases) -> T) -> Option<T> {
        if !self.may_hold(charge) {
            return None;
        }
        let hash = self.hash(charge);
        let mut shard = self.shard(hash);
        let is_same = |leased: &LeasedKey| leased.key == charge.key && leased.leases.limit().counts_as(&charge.limit);
        let mut leased = shard.find_entry(hash, is_same).ok()?;
        if *leased.get().leases.limit() == charge.limit {
            return Some(call(&mut leased.get_mut().leases));
        }
        let (LeasedKey { key, leases }, _) = leased.remove();
        self.keys.fetch_sub(1, Ordering::Relaxed);
        drop(shard);
        // Under the limit that is in force now.
        let returned = leases.into_returned();
        let returned = returned.map(|returned| charged(&charge.limit, &key, returned));
        lock(&self.returned).extend(returned);
        self.wake_returner.notify_one();
        None
    }

    /// Whether the key of a charge may be leased by now.
    pub(crate) fn may_hold(&self, charge: &Charge) -> bool {
        charge.limit.lease_micros().is_some() && self.keys.load(Ordering::Relaxed) > 0
    }

    fn shard(&self, hash: u64) -> MutexGuard<'_, HashTable<LeasedKey>> {
        lock(&self.shards[(hash >> 32) as usize % SHARDS])
    }

    fn hash(&self, charge: &Charge) -> u64 {
        self.hasher.hash_one((charge.limit.shape_hash(), charge.key.as_str()))
    }

    fn hash_of(&self, leased: &LeasedKey) -> u64 {
        self.hasher
            .hash_one((leased.leases.limit().shape_hash(), leased.key.as_str()))
    }
}

/// The refund of units.
fn charged(limit: &Limit, key: &Key, Returned { units, mark }: Returned) -> Charged {
    let charge = Charge::new(limit.clone(), key.clone()).with_cost(units);
    Charged::refund(charge, mark)
}

/// No code under the locks panics halfway through an update.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
