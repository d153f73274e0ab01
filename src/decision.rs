//! What a store says of a whole request: a verdict per tier, and what they amount to.

use std::time::Duration;

use smallvec::SmallVec;

use crate::{
    algorithm::Mark,
    charge::{Charge, Charges},
    key::Key,
    limit::Limit,
    receipt::{Charged, Receipt},
    time::Micros,
    verdict::{Outcome, Verdict},
};

/// Most requests have one, which is not on the heap. A decision is moved often, so there is no room for more.
pub(crate) type Tiers = SmallVec<[Tier; 1]>;

/// What a store says of a request: a verdict per tier, in the order of the charges.
///
/// After a refund, a settle or a reset, the verdicts tell what a request of cost 0 would be told.
///
/// A [`Limiter`](crate::Limiter) returns one, and with axum handlers can ask for it as an argument.
///
/// ```
/// /// Which limits refuse.
/// fn refused_by(decision: &tollgate::Decision) -> impl Iterator<Item = &str> {
///     let refused = decision.tiers().iter().filter(|tier| !tier.verdict().outcome().admits());
///     refused.map(|tier| tier.limit().name())
/// }
/// ```
#[derive(Debug)]
pub struct Decision {
    now: Micros,
    tiers: Tiers,
    by: By,
    /// Whether there were more tiers, of which nobody could tell.
    is_partial: bool,
}

/// Who decided, the least to be relied on last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum By {
    Store,
    Fallback,
    Nobody,
}

/// One tier of a decision.
#[derive(Clone, Debug)]
pub struct Tier {
    pub(crate) charge: Charge,
    pub(crate) verdict: Verdict,
    /// Where the charge left its trace, if it was taken and nobody has asked for the receipt.
    pub(crate) mark: Option<Mark>,
}

impl Tier {
    /// What was said of a charge that has not been taken.
    pub(crate) fn new(charge: Charge, verdict: Verdict) -> Self {
        let mark = None;
        Self { charge, verdict, mark }
    }

    /// The limit that was asked.
    pub fn limit(&self) -> &Limit {
        &self.charge.limit
    }

    /// Whom the request was counted for.
    pub fn key(&self) -> &Key {
        &self.charge.key
    }

    /// Whether it is only evaluated, and neither refuses nor delays.
    pub fn is_shadow(&self) -> bool {
        self.charge.shadow
    }

    /// Whether clients are told of it. A shadow is never listed.
    pub fn is_listed(&self) -> bool {
        self.charge.listed && !self.charge.shadow
    }

    /// Whether it is the reason why the request has to wait for so long.
    pub(crate) fn is_spent_for(&self, retry_after: Duration) -> bool {
        !self.is_shadow() && self.verdict.retry_after() == Some(retry_after)
    }

    /// Whether it is no reason to refuse the request.
    pub(crate) fn lets_pass(&self) -> bool {
        self.charge.shadow || self.verdict.outcome.admits()
    }

    /// Whatever it said, its request is not held back: it does not pass.
    #[cfg(feature = "redis")]
    pub(crate) fn do_not_hold(&mut self) {
        if let Outcome::Admitted { delay } = &mut self.verdict.outcome {
            *delay = 0;
        }
    }

    /// What it said.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }
}

impl Decision {
    pub(crate) fn new(now: Micros, tiers: Tiers) -> Self {
        Self {
            now,
            tiers,
            by: By::Store,
            is_partial: false,
        }
    }

    /// Of a request with one tier, as most have.
    pub(crate) fn of_one(now: Micros, tier: Tier) -> Self {
        Self::new(now, Tiers::from_buf([tier]))
    }

    /// Of a request that no limit applies to.
    pub(crate) fn exempt(now: Micros) -> Self {
        Self::new(now, Tiers::new())
    }

    /// Of a request that passes because the store could not be asked.
    pub(crate) fn unchecked(now: Micros) -> Self {
        Self {
            by: By::Nobody,
            ..Self::exempt(now)
        }
    }

    /// As said by whoever stood in for the store.
    pub(crate) fn by_fallback(self) -> Self {
        Self {
            by: By::Fallback,
            ..self
        }
    }

    /// As said by the same as that.
    pub(crate) fn by_the_same_as(self, other: &Self) -> Self {
        Self { by: other.by, ..self }
    }

    /// As said by some of those who were asked: the others could not.
    #[cfg(feature = "redis")]
    pub(crate) fn partial(self) -> Self {
        let is_partial = true;
        Self { is_partial, ..self }
    }

    /// Together with what an outer layer decided before: its tiers come first.
    pub(crate) fn after(mut self, outer: &Self) -> Self {
        self.tiers.insert_many(0, outer.tiers.iter().cloned());
        self.by = self.by.max(outer.by);
        self
    }

    /// Corrects what a tier said.
    #[cfg(feature = "redis")]
    pub(crate) fn tell(&mut self, tier: usize, verdict: Verdict) {
        self.tiers[tier].verdict = verdict;
    }

    #[cfg(feature = "redis")]
    pub(crate) fn into_tiers(self) -> Tiers {
        self.tiers
    }

    /// Whether the request may pass: every tier that is not a shadow admits it.
    pub fn admits(&self) -> bool {
        self.tiers.iter().all(Tier::lets_pass)
    }

    /// What the tiers amount to: one impossible tier makes the request impossible, the longest wait is the request's.
    pub fn outcome(&self) -> Outcome {
        let binding = self.tiers.iter().filter(|tier| !tier.is_shadow());
        binding
            .map(|tier| tier.verdict.outcome)
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

    /// The first tier that refuses, which speaks for all that do.
    pub(crate) fn refused_by(&self) -> Option<&Tier> {
        self.tiers.iter().find(|tier| !tier.lets_pass())
    }

    /// The tier that holds an admitted request for the longest, if one does.
    pub(crate) fn held_by(&self) -> Option<&Tier> {
        let delay = self.delay();
        let holds = |tier: &&Tier| !tier.is_shadow() && tier.verdict.delay() == delay;
        self.tiers.iter().find(holds).filter(|_| !delay.is_zero())
    }

    /// Whether the store failed and the request was let through without having been counted.
    pub fn is_unchecked(&self) -> bool {
        self.by == By::Nobody
    }

    /// Whether the store failed and this node decided by itself, as [`fallback`](crate::RateLimitLayer::fallback) asks it to.
    pub fn is_by_fallback(&self) -> bool {
        self.by == By::Fallback
    }

    /// Whether one of the charges may yet be corrected, or given back, by what comes of the request.
    pub(crate) fn is_provisional(&self) -> bool {
        self.tiers.iter().any(|tier| tier.charge.provisional)
    }

    /// What was to be charged, if it tells of all of it.
    pub(crate) fn charges(&self) -> Option<Charges> {
        let charges = self.tiers.iter().map(|tier| tier.charge.clone());
        (!self.is_partial).then(|| Charges::apart(charges))
    }

    /// A verdict per tier, shadows included.
    pub fn tiers(&self) -> &[Tier] {
        &self.tiers
    }

    /// The store's time when it decided, in microseconds since the Unix epoch.
    pub fn now(&self) -> Micros {
        self.now
    }

    /// Tells what has come of it since, where charges of some tiers were corrected.
    pub(crate) fn follow(&mut self, corrected: &Self) {
        let gone = corrected.now.saturating_sub(self.now);
        self.now += gone;
        for tier in &mut self.tiers {
            tier.verdict = tier.verdict.after(gone);
        }
        for told in &corrected.tiers {
            let tiers = self.tiers.iter_mut();
            let same = tiers.filter(|tier| tier.charge.counts_as(&told.charge));
            same.for_each(|tier| tier.verdict = told.verdict);
        }
    }

    /// Takes a receipt back that has not been used.
    pub(crate) fn put_back(&mut self, receipt: Receipt) {
        for Charged { charge, mark, .. } in receipt.into_charged() {
            let mut tiers = self.tiers.iter_mut();
            if let Some(tier) = tiers.find(|tier| tier.charge.counts_as(&charge)) {
                tier.mark = Some(mark);
            }
        }
    }

    /// The receipt of what was charged, for a refund or a settle. There is one, and it is handed out once: a decision that
    /// a layer has put into a request's extensions has none.
    pub fn take_receipt(&mut self) -> Option<Receipt> {
        let charged = self.tiers.iter_mut().filter_map(|tier| {
            let mark = tier.mark.take()?;
            Some(Charged::new(tier.charge.clone(), mark))
        });
        Receipt::new(charged, self.by == By::Fallback)
    }
}

/// A clone tells the same and has no receipt: a charge can be given back once.
impl Clone for Decision {
    fn clone(&self) -> Self {
        let told = |tier: &Tier| Tier::new(tier.charge.clone(), tier.verdict);
        Self {
            now: self.now,
            // Most have one, which is quicker to make than to collect.
            tiers: match &self.tiers[..] {
                [tier] => Tiers::from_buf([told(tier)]),
                tiers => tiers.iter().map(told).collect(),
            },
            by: self.by,
            is_partial: self.is_partial,
        }
    }
}
