//! The denial cache: exhausted keys, as far as this process knows.
//!
//! A request for an exhausted key is denied from the cache, without asking Redis, so an attack on a key causes almost no load.
//! A denial is repeated until its `retry_after` has elapsed, and for a second at most, since another process may have
//! refunded a charge. It applies to the version of the limit that was denied: after a limit has changed, Redis is asked at once.
//!
//! A refund in this process clears the cache, except that of a part of a request in a cluster, which happens with every request that
//! one slot denies and another admits: it forgets the denials of its own keys, which its charge may have caused.
//!
//! A denial expires slightly early rather than late: its age counts from when the call was sent, but the `retry_after` that
//! clients receive counts from when the reply arrived.

use std::{
    collections::HashMap,
    hash::BuildHasher,
    ptr,
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
    decision::{Decision, TierDecision, TierDecisions},
    time::Micros,
    verdict::RawOutcome,
};

/// The maximal age of a denial.
const MAX_AGE: Duration = Duration::from_secs(1);

/// The maximal number of denials.
const MAX_DENIALS: usize = 10_000;

/// The maximal number of keys with a refund whose time is known.
const MAX_REFUNDED: usize = 1_000;

/// The minimal interval between sweeps of expired denials. A client that exhausts more keys than fit must not cause a sweep
/// with each request.
const SWEEP_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Default)]
pub(crate) struct DenialCache {
    hasher: RandomState,
    /// The number of denials, so that a request takes no lock while there is none.
    count: AtomicUsize,
    state: RwLock<CacheState>,
}

#[derive(Default)]
struct CacheState {
    denials: HashTable<CachedDenial>,
    /// When expired denials were last swept.
    swept: Option<Instant>,
    /// When a charge was last refunded. Denials of calls that were sent before are not cached: they may precede the refund.
    last_refund: Option<Instant>,
    /// The same for the keys of parts, by the hash of the charge. A denial is cached within [`MAX_AGE`] after its call was sent, so an
    /// older refund has no effect.
    refunded: HashMap<u64, Instant>,
}

impl CacheState {
    /// Whether a charge was refunded after a call was sent that denied it.
    fn is_refunded_since(&self, sent: Instant, hash: u64) -> bool {
        let refunds = [self.last_refund, self.refunded.get(&hash).copied()];
        refunds.into_iter().flatten().any(|refund| sent <= refund)
    }

    fn clear(&mut self, now: Instant) {
        self.last_refund = Some(now);
        self.refunded.clear();
        self.denials.clear();
    }
}

struct CachedDenial {
    decision: Decision,
    /// The tier with the longest `retry_after`.
    exhausted: usize,
    received: Instant,
    until: Instant,
}

impl CachedDenial {
    /// From a denial with a `retry_after`. Provisional charges are not cached: they may be refunded at any time, like slots
    /// of concurrency limits.
    fn new(decision: &Decision, sent: Instant, received: Instant) -> Option<Self> {
        if decision.is_provisional() {
            return None;
        }
        let retry_after = decision.retry_after()?;
        let binding = decision.binding_tier().filter(|tier| !tier.is_concurrency())?;
        let exhausted = decision.tiers().iter().position(|tier| ptr::eq(tier, binding))?;
        // Nodes return units of a leased tier within the lease time.
        let leased = decision.tiers().iter().filter_map(|tier| tier.limit().lease_micros());
        let max_age = leased.map(Duration::from_micros).fold(MAX_AGE, Duration::min);
        Some(Self {
            decision: decision.without_receipt(),
            exhausted,
            received,
            until: sent + retry_after.min(max_age),
        })
    }

    fn charge(&self) -> &Charge {
        &self.decision.tiers()[self.exhausted].charge
    }

    /// Whether these charges would be denied as well: the same tiers with the same settings and costs, where a tier that denied
    /// may have a higher cost, up to its capacity.
    fn applies_to(&self, charges: &Charges) -> bool {
        let same = |(tier, charge): (&TierDecision, &Charge)| {
            let cached = &tier.charge;
            let costs = match tier.verdict().outcome {
                RawOutcome::Limited { .. } => cached.cost..=charge.limit.algorithm().capacity(),
                RawOutcome::Admitted { .. } | RawOutcome::Impossible => cached.cost..=cached.cost,
            };
            costs.contains(&charge.cost)
                && (charge.shadow, charge.hidden) == (cached.shadow, cached.hidden)
                && charge.limit == cached.limit
                && charge.key == cached.key
        };
        let tiers = self.decision.tiers();
        tiers.len() == charges.len() && tiers.iter().zip(charges.as_slice()).all(same)
    }

    /// The decision after the elapsed time, in microseconds rounded down: no client is asked to retry too early.
    fn repeat(&self, charges: Charges, now: Instant) -> Decision {
        let elapsed = now.saturating_duration_since(self.received).as_micros() as Micros;
        let mut tiers = TierDecisions::new();
        for (charge, tier) in charges.into_each().zip(self.decision.tiers()) {
            tiers.push(TierDecision::new(charge, tier.verdict().advanced_by(elapsed)));
        }
        Decision::new(self.decision.now() + elapsed, tiers)
    }
}

impl DenialCache {
    /// The cached denial of these charges, or the charges if there is none.
    pub(crate) fn get(&self, charges: Charges) -> Result<Decision, Charges> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return Err(charges);
        }
        let now = Instant::now();
        // A read lock: in an attack, many requests read the same denial at once.
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let find = |charge: &Charge| {
            let hash = self.hash(charge);
            let denial = state.denials.find(hash, |denial| denial.charge().counts_as(charge))?;
            (now < denial.until && denial.applies_to(&charges)).then_some(denial)
        };
        match charges.as_slice().iter().find_map(find) {
            Some(denial) => {
                let limit = denial.charge().limit.clone();
                let decision = denial.repeat(charges, now);
                drop(state);
                limit.metrics().count_cached_denial();
                Ok(decision)
            }
            None => Err(charges),
        }
    }

    /// Caches the denial of a call that was sent and answered at these times.
    pub(crate) fn insert(&self, decision: &Decision, sent: Instant, received: Instant) {
        let denial = match decision.admits() {
            true => return,
            false => CachedDenial::new(decision, sent, received),
        };
        let Some(denial) = denial.filter(|denial| denial.until > received) else {
            return;
        };
        let hash = self.hash(denial.charge());
        let mut state = self.state();
        if state.is_refunded_since(sent, hash) {
            return;
        }
        if state.denials.len() >= MAX_DENIALS && state.swept.is_none_or(|swept| received - swept >= SWEEP_INTERVAL) {
            state.denials.retain(|denial| denial.until > received);
            state.swept = Some(received);
        }
        let full = state.denials.len() >= MAX_DENIALS;
        let entry = state.denials.entry(
            hash,
            |known| known.charge().counts_as(denial.charge()),
            |known| self.hash(known.charge()),
        );
        match entry {
            Entry::Occupied(mut known) => *known.get_mut() = denial,
            Entry::Vacant(_) if full => {}
            Entry::Vacant(vacant) => {
                vacant.insert(denial);
            }
        }
        self.count.store(state.denials.len(), Ordering::Relaxed);
    }

    /// Clears the cache after a refund, or a call that may have refunded. A denial contains verdicts on other keys too, which
    /// may be wrong now, and asking Redis once more is cheap.
    pub(crate) fn clear(&self, now: Instant) {
        let mut state = self.state();
        state.clear(now);
        self.count.store(0, Ordering::Relaxed);
    }

    /// Forgets the denials of these charges after the refund of a part of a request. Other denials stay: the request that is refunded
    /// here because of an exhausted key is denied from the cache the next time.
    pub(crate) fn forget<'a>(&self, charges: impl IntoIterator<Item = &'a Charge>, now: Instant) {
        let mut state = self.state();
        for charge in charges {
            let hash = self.hash(charge);
            if let Ok(denial) = state
                .denials
                .find_entry(hash, |denial| denial.charge().counts_as(charge))
            {
                denial.remove();
            }
            state.refunded.insert(hash, now);
        }
        if state.refunded.len() > MAX_REFUNDED {
            state.refunded.retain(|_, refund| now < *refund + MAX_AGE);
        }
        if state.refunded.len() > MAX_REFUNDED {
            state.clear(now);
        }
        self.count.store(state.denials.len(), Ordering::Relaxed);
    }

    fn hash(&self, charge: &Charge) -> u64 {
        self.hasher.hash_one((charge.limit.shape_hash(), charge.key.as_str()))
    }

    fn state(&self) -> RwLockWriteGuard<'_, CacheState> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
