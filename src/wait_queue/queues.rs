//! A queue per key that requests wait for.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{Hash, Hasher},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::{Mutex as AsyncMutex, Notify, OwnedMutexGuard, Semaphore, SemaphorePermit};

use crate::{
    charge::{Charge, Charges},
    decision::{Decision, TierDecision, TierDecisions},
    key::Key,
    limit::Limit,
    time::{Micros, micros},
};

/// The default length of a queue.
pub(crate) const DEFAULT_MAX_WAITERS: usize = 100;

/// All queues of a layer or a limiter.
#[derive(Debug)]
pub(crate) struct WaitQueues {
    /// The maximal length of a queue.
    max_waiters: usize,
    /// The number of queues, so that a request takes no lock while there is none.
    count: AtomicUsize,
    queues: Mutex<HashMap<QueueKey, KeyQueue>>,
}

/// What requests wait for: a key under a limit.
#[derive(Clone, Debug)]
pub(super) struct QueueKey {
    limit: Limit,
    key: Key,
}

#[derive(Debug)]
struct KeyQueue {
    turns: Arc<Turns>,
    len: usize,
    head_denial: Option<HeadDenial>,
    /// When the request behind the head may leave, since it overtakes the head or its deadline has passed; 0 while that is
    /// unknown.
    next_leaves_at: Micros,
}

/// The positions at the front of a queue. Both semaphores are fair: requests get the permits in the order of arrival.
#[derive(Debug)]
struct Turns {
    /// Its only permit is the head's.
    head: Semaphore,
    /// Its only permit belongs to the request behind the head.
    next: Semaphore,
    /// Held while one of the two asks the store, so that the head never sees a charge that may still be refunded.
    store: Arc<AsyncMutex<()>>,
    /// Notified when the head was denied again.
    head_denied: Notify,
    /// Notified when slots may have become free.
    slots_released: Notify,
}

/// The last denial of a queue's head.
#[derive(Debug)]
struct HeadDenial {
    decision: Decision,
    at: Micros,
    /// The deadline of the head; `None` once it has left the queue.
    deadline: Option<Micros>,
}

/// A head that a request may overtake now.
pub(super) struct WaitingHead {
    pub(super) charges: Charges,
    pub(super) deadline: Micros,
}

/// A place in a queue, which is freed when it is dropped.
pub(super) struct QueueSlot {
    queues: Arc<WaitQueues>,
    key: QueueKey,
    turns: Arc<Turns>,
    is_first: bool,
}

/// The permit of the head. Once it is dropped, the head can no longer be overtaken.
pub(super) struct HeadPermit<'a> {
    slot: &'a QueueSlot,
    _permit: SemaphorePermit<'a>,
}

/// The permit of the request behind the head.
pub(super) struct NextPermit<'a> {
    slot: &'a QueueSlot,
    _permit: SemaphorePermit<'a>,
}

impl QueueKey {
    fn of(charge: &Charge) -> Self {
        let (limit, key) = (charge.limit.clone(), charge.key.clone());
        Self { limit, key }
    }

    pub(super) fn limit(&self) -> &Limit {
        &self.limit
    }

    /// The key with the longest `retry_after` of a denied request.
    pub(super) fn of_denial(decision: &Decision) -> Option<Self> {
        let tier = decision.binding_tier()?;
        tier.verdict().retry_after().map(|_| Self::of(&tier.charge))
    }
}

impl WaitQueues {
    /// Queues of at most `max_waiters` requests, at least 1.
    pub(crate) fn new(max_waiters: usize) -> Self {
        Self {
            max_waiters: max_waiters.max(1),
            count: AtomicUsize::new(0),
            queues: Mutex::default(),
        }
    }

    /// The first of these charges whose key has a queue. Requests that cost nothing or can never pass join none.
    pub(super) fn existing_queue(&self, charges: &Charges) -> Option<QueueKey> {
        if self.count.load(Ordering::Relaxed) == 0 || charges.exceed_capacity() {
            return None;
        }
        let queues = self.lock();
        keys_of(charges).find(|key| queues.contains_key(key))
    }

    /// Joins at the end of a queue, unless it is full or the request is known not to be admitted until `deadline`.
    pub(super) fn join(self: &Arc<Self>, key: &QueueKey, charges: &Charges, deadline: Micros) -> Option<QueueSlot> {
        let mut queues = self.lock();
        let queue = queues.entry(key.clone()).or_insert_with(KeyQueue::new);
        let is_first = queue.len == 0;
        if !is_first && (queue.len >= self.max_waiters || queue.earliest_admission(charges) > deadline) {
            return None;
        }
        queue.len += 1;
        let turns = Arc::clone(&queue.turns);
        self.count.store(queues.len(), Ordering::Relaxed);
        Some(QueueSlot {
            queues: Arc::clone(self),
            key: key.clone(),
            turns,
            is_first,
        })
    }

    /// Lets the heads of all queues for slots ask again.
    pub(crate) fn wake_for_slots(&self) {
        if self.count.load(Ordering::Relaxed) > 0 {
            let queues = self.lock();
            let slots = queues.iter().filter(|(key, _)| key.limit.algorithm().is_concurrency());
            slots.for_each(|(_, queue)| queue.turns.slots_released.notify_one());
        }
    }

    /// The head's denial, if it is also the denial of these charges: of the same costs for the same keys.
    pub(super) fn own_denial(&self, key: &QueueKey, charges: &Charges, now: Micros) -> Option<Decision> {
        let queues = self.lock();
        let denial = queues.get(key)?.head_denial.as_ref()?;
        denial.covers(charges).then(|| denial.applied_to(charges, now))?
    }

    /// The head's denial as far as it concerns these charges, for a request that only has to wait for the head.
    pub(super) fn head_denial(&self, key: &QueueKey, charges: &Charges, now: Micros) -> Option<Decision> {
        let queues = self.lock();
        queues.get(key)?.head_denial.as_ref()?.applied_to(charges, now)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<QueueKey, KeyQueue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The keys that these charges can wait for.
fn keys_of(charges: &Charges) -> impl Iterator<Item = QueueKey> {
    let spends = |charge: &&Charge| !charge.shadow && charge.cost > 0;
    charges.as_slice().iter().filter(spends).map(QueueKey::of)
}

impl KeyQueue {
    fn new() -> Self {
        let turns = Turns {
            head: Semaphore::new(1),
            next: Semaphore::new(1),
            store: Arc::default(),
            head_denied: Notify::new(),
            slots_released: Notify::new(),
        };
        Self {
            turns: Arc::new(turns),
            len: 0,
            head_denial: None,
            next_leaves_at: 0,
        }
    }

    /// The earliest time at which a request at the end of the queue may be admitted, as far as it is known: when the head may
    /// be, or before, if the request gets behind the head and can overtake it.
    fn earliest_admission(&self, charges: &Charges) -> Micros {
        let Some(denial) = &self.head_denial else { return 0 };
        let overtakes_at = denial.denied_until(charges).max(self.next_leaves_at);
        overtakes_at.min(denial.retry_at())
    }
}

impl HeadDenial {
    /// When the head asks the store again.
    fn retry_at(&self) -> Micros {
        self.at + self.decision.binding_tier().map_or(0, |tier| micros(tier.denied_for()))
    }

    /// Until when these charges are denied too: where the head is denied, a charge of at least the same cost is. After a change of
    /// the limit it may not be, but it keeps the order of arrival.
    fn denied_until(&self, charges: &Charges) -> Micros {
        let denied = self.decision.tiers().iter().filter(|tier| !tier.passes());
        let is_as_costly = |tier: &&TierDecision| {
            let mut costly = charges.as_slice().iter().filter(|charge| !charge.shadow);
            costly.any(|charge| tier.charge.counts_as(charge) && charge.cost >= tier.charge.cost)
        };
        let waits = denied.filter(is_as_costly).map(TierDecision::denied_for);
        waits.max().map_or(0, |wait| self.at + micros(wait))
    }

    /// The head and when charges that are denied until `denied_until` may overtake it, if that is before the head may be
    /// admitted: from then on it is the head's turn.
    fn overtaken_by(&self, charges: &Charges, denied_until: Micros) -> Option<(Micros, WaitingHead)> {
        let deadline = self.deadline?;
        let at = self.denied_until(charges).max(denied_until);
        let charges = self.decision.charges().filter(|_| at < self.retry_at())?;
        Some((at, WaitingHead { charges, deadline }))
    }

    /// Whether the head has the same costs for all keys of these charges.
    fn covers(&self, charges: &Charges) -> bool {
        let tiers = self.decision.tiers();
        charges.as_slice().iter().all(|charge| {
            let mut same = tiers.iter().map(|tier| &tier.charge);
            same.any(|other| other.has_same_limit(charge) && other.cost == charge.cost)
        })
    }

    fn applied_to(&self, charges: &Charges, now: Micros) -> Option<Decision> {
        let elapsed = now.saturating_sub(self.at);
        let verdict_of = |charge: &Charge| {
            let tiers = self.decision.tiers();
            let tier = tiers.iter().find(|tier| tier.charge.counts_as(charge))?;
            Some(TierDecision::new(charge.clone(), tier.verdict().advanced_by(elapsed)))
        };
        let tiers: TierDecisions = charges.as_slice().iter().filter_map(verdict_of).collect();
        let decision = Decision::new(self.decision.now() + elapsed, tiers).with_source_of(&self.decision);
        (!decision.admits()).then_some(decision)
    }
}

impl QueueSlot {
    /// Whether the queue was empty before it joined.
    pub(super) fn is_first(&self) -> bool {
        self.is_first
    }

    /// Waits until it is behind the head, or the head.
    pub(super) async fn wait_for_next(&self) -> NextPermit<'_> {
        let permit = self.turns.next.acquire().await;
        NextPermit {
            slot: self,
            _permit: permit.expect("the semaphore is never closed"),
        }
    }

    /// Waits until it is the head.
    pub(super) async fn wait_for_head(&self) -> HeadPermit<'_> {
        let permit = self.turns.head.acquire().await;
        HeadPermit {
            slot: self,
            _permit: permit.expect("the semaphore is never closed"),
        }
    }

    /// Waits for the turn to ask the store.
    pub(super) async fn wait_for_store(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turns.store).lock_owned().await
    }

    /// Waits until the head was denied again.
    pub(super) async fn wait_for_head_denial(&self) {
        self.turns.head_denied.notified().await;
    }

    /// Waits until slots may have become free.
    pub(super) async fn wait_for_slots(&self) {
        self.turns.slots_released.notified().await;
    }

    /// Shares the denial of the head with the requests behind it.
    pub(super) fn publish(&self, decision: &Decision, at: Micros, deadline: Micros) {
        self.update(|queue| {
            let (decision, deadline) = (decision.without_receipt(), Some(deadline));
            queue.head_denial = Some(HeadDenial { decision, at, deadline });
        });
        self.turns.head_denied.notify_one();
    }

    /// Shares the denial of a head that was overtaken.
    pub(super) fn publish_overtaken(&self, decision: Decision, at: Micros) {
        self.update(|queue| {
            if let Some(denial) = &mut queue.head_denial
                && !decision.admits()
            {
                (denial.decision, denial.at) = (decision, at);
            }
        });
    }

    /// The head that the request behind it may try to overtake, and when, if it is denied until `denied_until` and leaves at
    /// `deadline`. `None` if it has to wait for the head.
    pub(super) fn head_to_overtake(
        &self,
        charges: &Charges,
        denied_until: Micros,
        now: Micros,
        deadline: Micros,
    ) -> Option<(Micros, WaitingHead)> {
        let mut queues = self.queues.lock();
        // A charge could delay the head of the other queue too.
        let has_other_queue = keys_of(charges).any(|key| key != self.key && queues.contains_key(&key));
        let queue = queues.get_mut(&self.key)?;
        let denial = queue.head_denial.as_ref().filter(|_| !has_other_queue);
        let head = denial.and_then(|denial| denial.overtaken_by(charges, denied_until.max(now)));
        queue.next_leaves_at = head.as_ref().map_or(deadline, |(at, _)| *at);
        head
    }

    fn update(&self, update: impl FnOnce(&mut KeyQueue)) {
        if let Some(queue) = self.queues.lock().get_mut(&self.key) {
            update(queue);
        }
    }
}

impl Drop for HeadPermit<'_> {
    fn drop(&mut self) {
        self.slot.update(|queue| {
            if let Some(denial) = &mut queue.head_denial {
                denial.deadline = None;
            }
        });
    }
}

impl Drop for NextPermit<'_> {
    fn drop(&mut self) {
        self.slot.update(|queue| queue.next_leaves_at = 0);
    }
}

impl Drop for QueueSlot {
    fn drop(&mut self) {
        let mut queues = self.queues.lock();
        if let Entry::Occupied(mut queue) = queues.entry(self.key.clone()) {
            queue.get_mut().len -= 1;
            if queue.get().len == 0 {
                queue.remove();
            }
        }
        self.queues.count.store(queues.len(), Ordering::Relaxed);
    }
}

impl PartialEq for QueueKey {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.limit.counts_as(&other.limit)
    }
}

impl Eq for QueueKey {}

impl Hash for QueueKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.limit.shape_hash(), &self.key).hash(state);
    }
}

#[cfg(test)]
mod tests;
