//! Lines of requests that wait for the same key.

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
    decision::{Decision, Tier, Tiers},
    key::Key,
    limit::Limit,
    time::{Micros, micros},
};

/// How many requests wait for one key, unless told otherwise.
pub(crate) const WAITERS: usize = 100;

/// A line for every key that somebody waits for.
#[derive(Debug)]
pub(crate) struct WaitingRoom {
    /// How long a line may be.
    waiters: usize,
    /// How many lines there are, so that nobody waits for a lock to see that there is none.
    count: AtomicUsize,
    lines: Mutex<HashMap<Spot, Line>>,
}

/// What somebody waits for: a key, under a limit.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    limit: Limit,
    key: Key,
}

#[derive(Debug)]
struct Line {
    /// Whoever has it is at the head. The others get it in the order of their coming.
    head: Arc<Semaphore>,
    waiting: usize,
    told: Option<Told>,
}

/// What the head of a line was told, and when.
#[derive(Debug)]
struct Told {
    decision: Decision,
    at: Micros,
}

/// A place in a line, which is free again when it is dropped.
pub(super) struct Ticket {
    room: Arc<WaitingRoom>,
    spot: Spot,
    head: Arc<Semaphore>,
    is_first: bool,
}

impl Spot {
    fn of(charge: &Charge) -> Self {
        let (limit, key) = (charge.limit.clone(), charge.key.clone());
        Self { limit, key }
    }

    pub(super) fn limit(&self) -> &Limit {
        &self.limit
    }

    /// What a refused request has to wait for the longest.
    pub(super) fn spent(decision: &Decision) -> Option<Self> {
        let retry_after = decision.retry_after()?;
        let spent = decision.tiers().iter().find(|tier| tier.is_spent_for(retry_after))?;
        Some(Self::of(&spent.charge))
    }
}

impl WaitingRoom {
    pub(crate) fn new(waiters: usize) -> Self {
        Self {
            waiters: waiters.max(1),
            count: AtomicUsize::new(0),
            lines: Mutex::default(),
        }
    }

    /// Where somebody already waits for what one of these is charged to. Nobody waits for what costs nothing, or for what is
    /// never there.
    pub(super) fn line_for(&self, charges: &Charges) -> Option<Spot> {
        if self.count.load(Ordering::Relaxed) == 0 || charges.can_never_pass() {
            return None;
        }
        let lines = self.lines();
        let spends = |charge: &&Charge| !charge.shadow && charge.cost > 0;
        let mut spots = charges.as_slice().iter().filter(spends).map(Spot::of);
        spots.find(|spot| lines.contains_key(spot))
    }

    /// The place behind everybody who waits there, unless the line is too long, or its head is known to wait for longer
    /// than `until`.
    pub(super) fn join(self: &Arc<Self>, spot: &Spot, until: Micros) -> Option<Ticket> {
        let mut lines = self.lines();
        let line = lines.entry(spot.clone()).or_insert_with(Line::new);
        let is_first = line.waiting == 0;
        let in_vain = line.told.as_ref().is_some_and(|told| told.promised() > until);
        if !is_first && (line.waiting >= self.waiters || in_vain) {
            return None;
        }
        line.waiting += 1;
        let head = Arc::clone(&line.head);
        self.count.store(lines.len(), Ordering::Relaxed);
        Some(Ticket {
            room: Arc::clone(self),
            spot: spot.clone(),
            head,
            is_first,
        })
    }

    /// What whoever does not get in is told: the same as the head of the line, as far as it concerns these charges. So
    /// nobody who leaves takes what the head waits for.
    pub(super) fn refusal(&self, spot: &Spot, charges: &Charges, now: Micros) -> Option<Decision> {
        let lines = self.lines();
        lines.get(spot)?.told.as_ref()?.repeat(charges, now)
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<Spot, Line>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    fn new() -> Self {
        Self {
            head: Arc::new(Semaphore::new(1)),
            waiting: 0,
            told: None,
        }
    }
}

impl Told {
    /// When the head may pass.
    fn promised(&self) -> Micros {
        self.at + self.decision.retry_after().map_or(0, micros)
    }

    fn repeat(&self, charges: &Charges, now: Micros) -> Option<Decision> {
        let gone = now.saturating_sub(self.at);
        let said_of = |charge: &Charge| {
            let tiers = self.decision.tiers();
            let tier = tiers.iter().find(|tier| tier.charge.counts_as(charge))?;
            Some(Tier::new(charge.clone(), tier.verdict().after(gone)))
        };
        let tiers: Tiers = charges.as_slice().iter().filter_map(said_of).collect();
        let decision = Decision::new(self.decision.now() + gone, tiers).by_the_same_as(&self.decision);
        (!decision.admits()).then_some(decision)
    }
}

impl Ticket {
    /// Whether nobody was there before.
    pub(super) fn is_first(&self) -> bool {
        self.is_first
    }

    /// The head of the line, when it is this one's turn.
    pub(super) async fn head(&self) -> OwnedSemaphorePermit {
        let head = Arc::clone(&self.head).acquire_owned().await;
        head.expect("the head of a line is never closed")
    }

    /// Lets those behind know what the head was told.
    pub(super) fn tell(&self, decision: &Decision, at: Micros) {
        if let Some(line) = self.room.lines().get_mut(&self.spot) {
            let decision = decision.clone();
            line.told = Some(Told { decision, at });
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut lines = self.room.lines();
        if let Entry::Occupied(mut line) = lines.entry(self.spot.clone()) {
            line.get_mut().waiting -= 1;
            if line.get().waiting == 0 {
                line.remove();
            }
        }
        self.room.count.store(lines.len(), Ordering::Relaxed);
    }
}

impl PartialEq for Spot {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.limit.counts_as(&other.limit)
    }
}

impl Eq for Spot {}

impl Hash for Spot {
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

    fn spot(user: &str) -> Spot {
        Spot::of(&charges(user).as_slice()[0])
    }

    #[test]
    fn a_line_is_there_for_as_long_as_somebody_waits() {
        let room = Arc::new(WaitingRoom::new(2));
        assert!(room.line_for(&charges("ann")).is_none());
        let first = room.join(&spot("ann"), 0).unwrap();
        let second = room.join(&spot("ann"), 0).unwrap();
        assert!(first.is_first() && !second.is_first());
        assert!(room.join(&spot("ann"), 0).is_none());
        assert!(room.join(&spot("bob"), 0).is_some_and(|ticket| ticket.is_first()));
        drop(first);
        assert_eq!(room.line_for(&charges("ann")), Some(spot("ann")));
        // Whoever comes now is behind the second.
        assert!(room.join(&spot("ann"), 0).is_some_and(|ticket| !ticket.is_first()));
        drop(second);
        assert!(room.line_for(&charges("ann")).is_none());
        assert!(room.lines().is_empty());
    }

    #[test]
    fn whoever_would_wait_in_vain_is_told_so_at_once() {
        let room = Arc::new(WaitingRoom::new(2));
        let head = room.join(&spot("ann"), 0).unwrap();
        let (retry_after, charge) = (1_000, charges("ann").into_one().unwrap());
        let verdict = crate::verdict::Verdict {
            outcome: crate::verdict::Outcome::Limited { retry_after },
            remaining: 0,
            reset_after: 5_000,
        };
        head.tell(&Decision::of_one(7_000_000, Tier::new(charge, verdict)), 50);
        assert!(room.join(&spot("ann"), 1_049).is_none());
        assert!(room.join(&spot("ann"), 1_050).is_some());
        let told = room.refusal(&spot("ann"), &charges("ann"), 450).unwrap();
        assert_eq!((told.now(), told.retry_after().unwrap().as_micros()), (7_000_400, 600));
        assert!(room.refusal(&spot("ann"), &charges("bob"), 450).is_none());
    }
}
