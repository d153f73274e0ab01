//! What this node holds, for all keys.

use std::{
    hash::{BuildHasher, Hasher},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use foldhash::quality::RandomState;
use hashbrown::{HashTable, hash_table::Entry};
use tokio::time::Instant;

use super::key_slots::{Answered, KeySlots, SlotAnswer};
use crate::{
    algorithm::{AnyAlgorithm, Holder},
    charge::Charge,
    quota::Cost,
    store::redis::connection::Reconnects,
};

/// How long after a renewal without an answer the next one is sent.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// The maximal number of renewals at a time: half of what a call contains, so that requests are not delayed when all keys have to be
/// renewed. Those without an answer for [`RETRY_INTERVAL`] do not count: other nodes of a cluster may answer.
const MAX_RENEWALS: usize = 64;

/// A holder: one store, with a random id.
pub(crate) struct NodeHolder {
    id: u64,
    /// The last epoch of any key. A key that is forgotten and held again continues from here.
    epoch: AtomicU64,
    hasher: RandomState,
    keys: Mutex<HashTable<HeldKey>>,
    /// The number of keys.
    len: AtomicUsize,
    /// When that task runs next, in microseconds since the start; 0 if there is none.
    pub(super) renewer_due: AtomicU64,
    start: Instant,
    pub(super) reconnects: Arc<Reconnects>,
    /// The reconnects after which all keys were corrected.
    seen_reconnects: AtomicU64,
}

struct HeldKey {
    charge: Charge,
    slots: KeySlots,
    /// When it is renewed next.
    renew_at: Instant,
    /// When the renewal in flight was sent.
    renewal_sent: Option<Instant>,
}

impl HeldKey {
    fn renewal_interval(&self) -> Duration {
        time_to_live(&self.charge) / 3
    }
}

/// How long Redis keeps what a node holds without a renewal.
pub(super) fn time_to_live(charge: &Charge) -> Duration {
    match charge.limit.algorithm() {
        AnyAlgorithm::Concurrency(limit) => Duration::from_micros(limit.time_to_live),
        _ => unreachable!("only concurrency limits have slots"),
    }
}

impl NodeHolder {
    pub(crate) fn new(reconnects: Arc<Reconnects>) -> Self {
        let hasher = RandomState::default();
        Self {
            // 52 bits, which Lua's doubles represent exactly, and not the id of a store in memory.
            id: (RandomState::default().build_hasher().finish() >> 12).max(1),
            epoch: AtomicU64::new(1),
            hasher,
            keys: Mutex::default(),
            len: AtomicUsize::new(0),
            renewer_due: AtomicU64::new(0),
            start: Instant::now(),
            seen_reconnects: AtomicU64::new(reconnects.count()),
            reconnects,
        }
    }

    /// Whether nothing is held, and Redis has to be told nothing.
    pub(super) fn is_idle(&self) -> bool {
        self.len.load(Ordering::SeqCst) == 0
    }

    /// Microseconds since the start, from 1.
    pub(super) fn micros(&self, at: Instant) -> u64 {
        1 + at.saturating_duration_since(self.start).as_micros() as u64
    }

    /// Sends an acquire.
    pub(super) fn send_acquire(&self, charge: &Charge) -> Holder {
        self.with(charge, |key| key.slots.send())
    }

    /// Sends a release.
    pub(super) fn send_release(&self, charge: &Charge) -> Holder {
        self.with(charge, |key| key.slots.send_release(charge.cost))
    }

    /// The answer to an acquire or a release; `cost` is what would be acquired. Returns whether it applies.
    pub(super) fn answer(&self, charge: &Charge, sender: Holder, answer: SlotAnswer, cost: Cost) -> bool {
        let apply = |slots: &mut KeySlots| answer.apply(slots, sender, cost);
        self.answered(charge, apply)
    }

    fn answered(&self, charge: &Charge, answer: impl FnOnce(&mut KeySlots) -> Answered) -> bool {
        self.with(charge, |key| {
            let answered = answer(&mut key.slots);
            if answered == Answered::StateLost {
                self.begin_epoch(key);
            }
            answered != Answered::Superseded
        })
    }

    /// There is no answer to an acquire or a release.
    pub(super) fn lost(&self, charge: &Charge, sender: Holder) {
        self.with(charge, |key| {
            if key.slots.lost(sender) {
                self.begin_epoch(key);
            }
        });
    }

    /// Releases what Redis has not been told of.
    pub(super) fn release_unsent(&self, charge: &Charge) {
        self.with(charge, |key| {
            key.slots.release(charge.cost);
            self.begin_epoch(key);
        });
    }

    /// The keys to renew now, and when the next ones are due. If more are due, the answers wake up the task: those that wait for longest
    /// come first, so that every key is renewed in time if Redis can keep up.
    pub(super) fn due(&self, now: Instant) -> (Vec<(Charge, Holder)>, Option<Instant>) {
        let reconnects = self.reconnects.count();
        let is_reconnected = self.seen_reconnects.swap(reconnects, Ordering::AcqRel) != reconnects;
        let mut keys = self.lock();
        let is_recent = |sent: Instant| now < sent + RETRY_INTERVAL;
        let (mut due, mut next, mut in_flight) = (Vec::new(), None, 0);
        for key in keys.iter_mut() {
            // Redis may have lost the last changes, or all.
            if is_reconnected && key.slots.count() > 0 {
                self.begin_epoch(key);
            }
            // The answer to a renewal in flight wakes up the task, unless the runtime that would read it is not running.
            let renew_at = match key.renewal_sent {
                Some(sent) => sent + key.renewal_interval(),
                None => key.renew_at,
            };
            if renew_at <= now {
                due.push(key);
            } else {
                next = Some(next.map_or(renew_at, |next: Instant| next.min(renew_at)));
                in_flight += usize::from(key.renewal_sent.is_some_and(is_recent));
            }
        }
        let free = MAX_RENEWALS.saturating_sub(in_flight);
        if due.len() > free {
            due.select_nth_unstable_by_key(free, |key| key.renew_at);
            due.truncate(free);
        }
        let renewed = due.into_iter().map(|key| {
            key.renewal_sent = Some(now);
            key.renew_at = now + key.renewal_interval();
            (key.charge.clone(), key.slots.send())
        });
        (renewed.collect(), next)
    }

    /// The answer to a renewal.
    pub(super) fn renewed(&self, charge: &Charge, sender: Holder, answer: SlotAnswer) {
        self.with(charge, |key| {
            key.renewal_sent = None;
            if answer.apply(&mut key.slots, sender, 0) == Answered::StateLost {
                self.begin_epoch(key);
            } else if !key.slots.is_confirmed() {
                self.renew_now(key);
            }
            // For the time of its next renewal.
            self.reconnects.wake.notify_one();
        });
    }

    /// There is no answer to a renewal. The next one follows soon, if necessary in another epoch.
    pub(super) fn renewal_lost(&self, charge: &Charge, sender: Holder) {
        self.with(charge, |key| {
            key.renewal_sent = None;
            if key.slots.renewal_lost(sender) {
                self.begin_epoch(key);
            }
            key.renew_at = Instant::now() + RETRY_INTERVAL;
            self.reconnects.wake.notify_one();
        });
    }

    /// Begins an epoch with what is held, and tells Redis at once.
    fn begin_epoch(&self, key: &mut HeldKey) {
        key.slots.begin_epoch(1 + self.epoch.fetch_add(1, Ordering::AcqRel));
        tracing::debug!(
            target: "tollgate::redis",
            limit = key.charge.limit.name(),
            key = %key.charge.key.digest(),
            held = key.slots.count(),
            "correcting what Redis counts for this node of a concurrency limit: an answer was lost, the connection was replaced, or Redis lost data"
        );
        self.renew_now(key);
    }

    fn renew_now(&self, key: &mut HeldKey) {
        key.renew_at = Instant::now();
        self.reconnects.wake.notify_one();
    }

    /// Changes what is held of a key, and forgets the key if that is nothing.
    fn with<T>(&self, charge: &Charge, change: impl FnOnce(&mut HeldKey) -> T) -> T {
        let mut keys = self.lock();
        let hash = |charge: &Charge| self.hasher.hash_one((charge.limit.shape_hash(), charge.key.as_str()));
        let entry = keys.entry(
            hash(charge),
            |known| known.charge.counts_as(charge),
            |known| hash(&known.charge),
        );
        let mut entry = match entry {
            Entry::Occupied(known) => known,
            Entry::Vacant(vacant) => {
                let key = HeldKey {
                    charge: Charge::new(charge.limit.clone(), charge.key.clone()),
                    slots: KeySlots::new(self.id, self.epoch.load(Ordering::Acquire)),
                    renew_at: Instant::now(),
                    renewal_sent: None,
                };
                let renew_at = key.renew_at + key.renewal_interval();
                vacant.insert(HeldKey { renew_at, ..key })
            }
        };
        let key = entry.get_mut();
        if key.charge.limit.update_to(&charge.limit) {
            // From this call on, its time-to-live may be shorter.
            key.renew_at = key.renew_at.min(Instant::now() + key.renewal_interval());
            self.reconnects.wake.notify_one();
        }
        let changed = change(key);
        if key.slots.is_idle() {
            entry.remove();
        }
        self.len.store(keys.len(), Ordering::SeqCst);
        changed
    }

    fn lock(&self) -> MutexGuard<'_, HashTable<HeldKey>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
