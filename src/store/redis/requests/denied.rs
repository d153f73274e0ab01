//! Keys that have nothing left, as far as this node has been told.
//!
//! Whoever asks for a spent key again is told again, without asking Redis: an attack on it costs next to nothing. What
//! was said is repeated until the key may have something again, and for a second at most, since another node may have
//! given something back. What is repeated is about a limit as it was: one that has been changed since is asked at once.
//!
//! Redis is asked again a little before that time is over rather than after: the time counts from when the call was sent, but
//! what clients are told to wait counts from when its answer came.

use std::{
    hash::BuildHasher,
    sync::{
        PoisonError, RwLock, RwLockWriteGuard,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use foldhash::quality::RandomState;
use hashbrown::{HashTable, hash_table::Entry};
use tokio::time::Instant;

use crate::{
    charge::{Charge, Charges},
    decision::{Decision, Tier, Tiers},
    time::Micros,
    verdict::Outcome,
};

/// The longest a refusal is repeated.
const LONGEST: Duration = Duration::from_secs(1);

/// The most refusals that are kept.
const MOST: usize = 10_000;

/// How often all of them are looked through for those that are over. Whoever spends more keys than there is room for must not
/// have that done for each of their requests.
const SWEEP: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(crate) struct Denied {
    hasher: RandomState,
    /// How many there are, so that nobody waits for a lock to see that there is none.
    count: AtomicUsize,
    kept: RwLock<Kept>,
}

#[derive(Default)]
struct Kept {
    refusals: HashTable<Refusal>,
    /// When they were last looked through.
    swept: Option<Instant>,
    /// When something was last given back. What was sent before is not kept: it may have been refused before that.
    given_back: Option<Instant>,
}

struct Refusal {
    decision: Decision,
    /// The tier that has nothing left for the longest.
    spent: usize,
    received: Instant,
    until: Instant,
}

impl Refusal {
    /// Of a decision that refuses and promises a time. Where charges may be given back, it may be over any moment.
    fn new(decision: &Decision, sent: Instant, received: Instant) -> Option<Self> {
        if decision.is_provisional() {
            return None;
        }
        let retry_after = decision.retry_after()?;
        let spent = decision
            .tiers()
            .iter()
            .position(|tier| tier.is_spent_for(retry_after))?;
        Some(Self {
            decision: decision.clone(),
            spent,
            received,
            until: sent + retry_after.min(LONGEST),
        })
    }

    fn charge(&self) -> &Charge {
        &self.decision.tiers()[self.spent].charge
    }

    /// Whether these charges would be refused as well: the same tiers on the same terms, and of what refused, at least
    /// as much, unless that can never be had.
    fn speaks_of(&self, charges: &Charges) -> bool {
        let same = |(tier, charge): (&Tier, &Charge)| {
            let asked = &tier.charge;
            let costs = match tier.verdict().outcome() {
                Outcome::Limited { .. } => asked.cost..=charge.limit.rule().capacity(),
                Outcome::Admitted { .. } | Outcome::Impossible => asked.cost..=asked.cost,
            };
            costs.contains(&charge.cost)
                && (charge.shadow, charge.listed) == (asked.shadow, asked.listed)
                && charge.limit == asked.limit
                && charge.key == asked.key
        };
        let tiers = self.decision.tiers();
        tiers.len() == charges.len() && tiers.iter().zip(charges.as_slice()).all(same)
    }

    /// In whole microseconds that have gone by, rounded down: nobody is told to come back too early.
    fn repeat(&self, charges: Charges, now: Instant) -> Decision {
        let gone = now.saturating_duration_since(self.received).as_micros() as Micros;
        let mut tiers = Tiers::new();
        for (charge, said) in charges.into_each().zip(self.decision.tiers()) {
            tiers.push(Tier::new(charge, said.verdict().after(gone)));
        }
        Decision::new(self.decision.now() + gone, tiers)
    }
}

impl Denied {
    /// What has been said of these charges, or them again if nothing has that still holds.
    pub(crate) fn repeat(&self, charges: Charges) -> Result<Decision, Charges> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return Err(charges);
        }
        let now = Instant::now();
        // Many ask at once for what an attack is after, and none of them should wait for another.
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        let said_of = |charge: &Charge| {
            let hash = self.hash(charge);
            let refusal = kept.refusals.find(hash, |refusal| refusal.charge().counts_as(charge))?;
            (now < refusal.until && refusal.speaks_of(&charges)).then_some(refusal)
        };
        match charges.as_slice().iter().find_map(said_of) {
            Some(refusal) => {
                let limit = refusal.charge().limit.clone();
                let decision = refusal.repeat(charges, now);
                drop(kept);
                limit.measures().repeated();
                Ok(decision)
            }
            None => Err(charges),
        }
    }

    /// Keeps a refusal that came in answer to a call of that time.
    pub(crate) fn remember(&self, decision: &Decision, sent: Instant, received: Instant) {
        let refusal = match decision.admits() {
            true => return,
            false => Refusal::new(decision, sent, received),
        };
        let Some(refusal) = refusal.filter(|refusal| refusal.until > received) else {
            return;
        };
        let mut kept = self.kept();
        if kept.given_back.is_some_and(|given_back| sent <= given_back) {
            return;
        }
        if kept.refusals.len() >= MOST && kept.swept.is_none_or(|swept| received - swept >= SWEEP) {
            kept.refusals.retain(|refusal| refusal.until > received);
            kept.swept = Some(received);
        }
        let full = kept.refusals.len() >= MOST;
        let hash = self.hash(refusal.charge());
        let place = kept.refusals.entry(
            hash,
            |known| known.charge().counts_as(refusal.charge()),
            |known| self.hash(known.charge()),
        );
        match place {
            Entry::Occupied(mut known) => *known.get_mut() = refusal,
            Entry::Vacant(_) if full => {}
            Entry::Vacant(place) => {
                place.insert(refusal);
            }
        }
        self.count.store(kept.refusals.len(), Ordering::Relaxed);
    }

    /// Forgets everything: something was given back, or may have been. What refusals say of other keys would be wrong too,
    /// and to ask once more costs little.
    pub(crate) fn forget(&self, now: Instant) {
        let mut kept = self.kept();
        kept.given_back = Some(now);
        kept.refusals.clear();
        self.count.store(0, Ordering::Relaxed);
    }

    fn hash(&self, charge: &Charge) -> u64 {
        self.hasher.hash_one((charge.limit.shape_hash(), charge.key.as_str()))
    }

    fn kept(&self) -> RwLockWriteGuard<'_, Kept> {
        self.kept.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{algorithm::TokenBucket, key::Key, limit::Limit, quota::Quota, verdict::Verdict};

    fn charge(user: usize) -> Charge {
        let limit = Limit::new("user", TokenBucket::new(Quota::per_day(1)));
        Charge::new(limit, Key::named("user", user))
    }

    fn refuse(denied: &Denied, user: usize, retry_after: Duration) {
        let retry_after = retry_after.as_micros() as Micros;
        let verdict = Verdict {
            outcome: Outcome::Limited { retry_after },
            remaining: 0,
            reset_after: retry_after,
        };
        let decision = Decision::of_one(0, Tier::new(charge(user), verdict));
        denied.remember(&decision, Instant::now(), Instant::now());
    }

    fn is_kept(denied: &Denied, user: usize) -> bool {
        denied.repeat(charge(user).into()).is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_room_for_so_many_and_room_is_made_ten_times_a_second() {
        let denied = Denied::default();
        for user in 0..MOST {
            refuse(&denied, user, Duration::from_millis(if user == 0 { 10 } else { 5000 }));
        }
        let last = MOST - 1;
        for (gone, newcomer, expected) in [(0, MOST, false), (99, MOST + 1, false), (1, MOST + 2, true)] {
            tokio::time::advance(Duration::from_millis(gone)).await;
            refuse(&denied, newcomer, LONGEST);
            assert_eq!(is_kept(&denied, newcomer), expected);
            assert!(is_kept(&denied, last) && denied.kept().refusals.len() == MOST);
        }
        // A second after they were refused, Redis is asked again, whatever it has promised.
        tokio::time::advance(Duration::from_millis(899)).await;
        assert!(is_kept(&denied, last));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!is_kept(&denied, last));
    }
}
