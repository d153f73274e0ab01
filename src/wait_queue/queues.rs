//! A queue per key that requests wait for.

use std::{
    collections::{HashMap, hash_map::Entry},
    hash::{Hash, Hasher},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

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
    /// Its only permit is the head's. A fair semaphore: the others get it in the order of arrival.
    head: Arc<Semaphore>,
    len: usize,
    head_denial: Option<HeadDenial>,
}

/// The store's last denial of a queue's head.
#[derive(Debug)]
struct HeadDenial {
    decision: Decision,
    at: Micros,
}

/// A place in a queue, which is freed when it is dropped.
pub(super) struct QueueSlot {
    queues: Arc<WaitQueues>,
    key: QueueKey,
    head: Arc<Semaphore>,
    is_first: bool,
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
        let retry_after = decision.retry_after()?;
        let tier = decision.tiers().iter().find(|tier| tier.requires_wait(retry_after))?;
        Some(Self::of(&tier.charge))
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
        let spends = |charge: &&Charge| !charge.shadow && charge.cost > 0;
        let mut keys = charges.as_slice().iter().filter(spends).map(QueueKey::of);
        keys.find(|key| queues.contains_key(key))
    }

    /// Joins at the end of a queue, unless it is full or its head is known to wait beyond `deadline`.
    pub(super) fn join(self: &Arc<Self>, key: &QueueKey, deadline: Micros) -> Option<QueueSlot> {
        let mut queues = self.lock();
        let queue = queues.entry(key.clone()).or_insert_with(KeyQueue::new);
        let is_first = queue.len == 0;
        let denial = queue.head_denial.as_ref();
        let is_too_late = denial.is_some_and(|denial| denial.retry_at() > deadline);
        if !is_first && (queue.len >= self.max_waiters || is_too_late) {
            return None;
        }
        queue.len += 1;
        let head = Arc::clone(&queue.head);
        self.count.store(queues.len(), Ordering::Relaxed);
        Some(QueueSlot {
            queues: Arc::clone(self),
            key: key.clone(),
            head,
            is_first,
        })
    }

    /// The head's denial as far as it concerns these charges, for a request that cannot join. Asking the store instead could
    /// take what the head waits for.
    pub(super) fn denial(&self, key: &QueueKey, charges: &Charges, now: Micros) -> Option<Decision> {
        let queues = self.lock();
        queues.get(key)?.head_denial.as_ref()?.applied_to(charges, now)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<QueueKey, KeyQueue>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeyQueue {
    fn new() -> Self {
        Self {
            head: Arc::new(Semaphore::new(1)),
            len: 0,
            head_denial: None,
        }
    }
}

impl HeadDenial {
    /// When the head asks the store again.
    fn retry_at(&self) -> Micros {
        self.at + self.decision.retry_after().map_or(0, micros)
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

    /// Waits for the permit of the head.
    pub(super) async fn wait_for_head(&self) -> OwnedSemaphorePermit {
        let head = Arc::clone(&self.head).acquire_owned().await;
        head.expect("the semaphore is never closed")
    }

    /// Shares the head's denial with the requests behind it.
    pub(super) fn publish(&self, decision: &Decision, at: Micros) {
        if let Some(queue) = self.queues.lock().get_mut(&self.key) {
            let decision = decision.clone();
            queue.head_denial = Some(HeadDenial { decision, at });
        }
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
mod tests {
    use super::*;
    use crate::{algorithm::TokenBucket, quota::Quota};

    fn charges(user: &str) -> Charges {
        let limit = Limit::new("user", TokenBucket::new(Quota::per_second(1)));
        Charge::new(limit, Key::named("user", user)).into()
    }

    fn key(user: &str) -> QueueKey {
        QueueKey::of(&charges(user).as_slice()[0])
    }

    #[test]
    fn a_queue_exists_while_requests_wait() {
        let queues = Arc::new(WaitQueues::new(2));
        assert!(queues.existing_queue(&charges("ann")).is_none());
        let first = queues.join(&key("ann"), 0).unwrap();
        let second = queues.join(&key("ann"), 0).unwrap();
        assert!(first.is_first() && !second.is_first());
        assert!(queues.join(&key("ann"), 0).is_none());
        assert!(queues.join(&key("bob"), 0).is_some_and(|slot| slot.is_first()));
        drop(first);
        assert_eq!(queues.existing_queue(&charges("ann")), Some(key("ann")));
        // A new request joins behind the second.
        assert!(queues.join(&key("ann"), 0).is_some_and(|slot| !slot.is_first()));
        drop(second);
        assert!(queues.existing_queue(&charges("ann")).is_none());
        assert!(queues.lock().is_empty());
    }

    #[test]
    fn a_request_whose_deadline_is_before_the_heads_retry_is_denied_at_once() {
        let queues = Arc::new(WaitQueues::new(2));
        let head = queues.join(&key("ann"), 0).unwrap();
        let (retry_after, charge) = (1_000, charges("ann").into_one().unwrap());
        let verdict = crate::verdict::Verdict {
            outcome: crate::verdict::Outcome::Limited { retry_after },
            remaining: 0,
            reset_after: 5_000,
        };
        head.publish(&Decision::of_one(7_000_000, TierDecision::new(charge, verdict)), 50);
        assert!(queues.join(&key("ann"), 1_049).is_none());
        assert!(queues.join(&key("ann"), 1_050).is_some());
        let denial = queues.denial(&key("ann"), &charges("ann"), 450).unwrap();
        assert_eq!(
            (denial.now(), denial.retry_after().unwrap().as_micros()),
            (7_000_400, 600)
        );
        assert!(queues.denial(&key("ann"), &charges("bob"), 450).is_none());
    }
}
