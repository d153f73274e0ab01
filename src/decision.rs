//! What a store says of a whole request: a verdict per tier, and what they amount to.

use std::time::Duration;

use smallvec::SmallVec;

use crate::{
    charge::Charge,
    limit::Limit,
    receipt::Receipt,
    time::Micros,
    verdict::{Outcome, Verdict},
};

/// What a store says of a request: a verdict per tier, in the order of the charges.
///
/// After a refund, a settle or a reset, the verdicts tell what a request of cost 0 would be told.
#[derive(Debug)]
pub struct Decision {
    now: Micros,
    tiers: SmallVec<[Tier; 3]>,
    receipt: Option<Receipt>,
    unchecked: bool,
}

/// One tier of a decision.
#[derive(Clone, Debug)]
pub struct Tier {
    limit: Limit,
    shadow: bool,
    listed: bool,
    pub(crate) verdict: Verdict,
}

impl Tier {
    pub(crate) fn new(charge: &Charge, verdict: Verdict) -> Self {
        Self {
            limit: charge.limit.clone(),
            shadow: charge.shadow,
            listed: charge.listed,
            verdict,
        }
    }

    /// The limit that was asked.
    pub fn limit(&self) -> &Limit {
        &self.limit
    }

    /// Whether it is only evaluated, and neither refuses nor delays.
    pub fn is_shadow(&self) -> bool {
        self.shadow
    }

    /// Whether clients are told of it. A shadow is never listed.
    pub fn is_listed(&self) -> bool {
        self.listed && !self.shadow
    }

    /// What it said.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }
}

impl Decision {
    pub(crate) fn new(now: Micros, tiers: impl IntoIterator<Item = Tier>, receipt: Option<Receipt>) -> Self {
        let tiers = SmallVec::from_iter(tiers);
        Self {
            now,
            tiers,
            receipt,
            unchecked: false,
        }
    }

    /// Of a request that no limit applies to.
    pub(crate) fn exempt(now: Micros) -> Self {
        Self::new(now, [], None)
    }

    /// Of a request that passes because the store could not be asked.
    pub(crate) fn unchecked(now: Micros) -> Self {
        Self {
            unchecked: true,
            ..Self::exempt(now)
        }
    }

    /// Together with what an outer layer decided before: its tiers come first.
    pub(crate) fn after(mut self, outer: &Self) -> Self {
        self.tiers.insert_many(0, outer.tiers.iter().cloned());
        self.unchecked |= outer.unchecked;
        self
    }

    /// Whether the request may pass: every tier that is not a shadow admits it.
    pub fn admits(&self) -> bool {
        self.binding().all(|verdict| verdict.outcome.admits())
    }

    /// What the tiers amount to: one impossible tier makes the request impossible, the longest wait is the request's.
    pub fn outcome(&self) -> Outcome {
        self.binding()
            .map(|verdict| verdict.outcome)
            .max_by_key(|outcome| match outcome {
                Outcome::Admitted { delay } => (0, *delay),
                Outcome::Limited { retry_after } => (1, *retry_after),
                Outcome::Impossible => (2, 0),
            })
            .unwrap_or(Outcome::Admitted { delay: 0 })
    }

    /// When the request would pass, if nobody else came in between; only a limited one is promised a time.
    pub fn retry_after(&self) -> Option<Duration> {
        self.outcome().retry_after()
    }

    /// How long an admitted request is held before it may leave.
    pub fn delay(&self) -> Duration {
        self.outcome().delay()
    }

    /// Whether the store failed and the request was let through without having been counted.
    pub fn is_unchecked(&self) -> bool {
        self.unchecked
    }

    /// A verdict per tier, shadows included.
    pub fn tiers(&self) -> &[Tier] {
        &self.tiers
    }

    /// The store's time when it decided, in microseconds since the Unix epoch.
    pub fn now(&self) -> Micros {
        self.now
    }

    /// The receipt of what was charged, for a refund or a settle. There is one, and it is handed out once: a decision that
    /// a layer has put into a request's extensions has none.
    pub fn take_receipt(&mut self) -> Option<Receipt> {
        self.receipt.take()
    }

    fn binding(&self) -> impl Iterator<Item = &Verdict> {
        self.tiers.iter().filter(|tier| !tier.shadow).map(|tier| &tier.verdict)
    }
}

/// A clone tells the same and has no receipt: a charge can be given back once.
impl Clone for Decision {
    fn clone(&self) -> Self {
        Self {
            now: self.now,
            tiers: self.tiers.clone(),
            receipt: None,
            unchecked: self.unchecked,
        }
    }
}
