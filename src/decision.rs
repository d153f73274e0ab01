//! The decision about a request: a verdict per tier, and their combined outcome.

use std::time::Duration;

use smallvec::SmallVec;

use crate::{
    algorithm::Mark,
    charge::{Charge, Charges},
    key::Key,
    limit::Limit,
    metrics::DecisionSource,
    receipt::{Charged, Receipt},
    time::Micros,
    verdict::{Outcome, Verdict},
};

/// One tier is stored inline, as most requests have one; more would make a decision expensive to move.
pub(crate) type TierDecisions = SmallVec<[TierDecision; 1]>;

/// A store's decision about a request: a verdict per tier, in the order of the charges.
///
/// After a refund, a settle or a reset, the verdicts are those of a request of cost 0.
///
/// A [`Limiter`](crate::Limiter) returns one; with axum it is an extractor for handlers.
///
/// ```
/// /// The limits that deny the request.
/// fn denied_by(decision: &tollgate::Decision) -> impl Iterator<Item = &str> {
///     let denying = decision.tiers().iter().filter(|tier| !tier.verdict().outcome().admits());
///     denying.map(|tier| tier.limit().name())
/// }
/// ```
#[derive(Debug)]
pub struct Decision {
    now: Micros,
    tiers: TierDecisions,
    source: DecisionSource,
    /// Whether the store could not decide about all tiers.
    is_partial: bool,
}

/// The decision about one tier.
#[derive(Clone, Debug)]
pub struct TierDecision {
    pub(crate) charge: Charge,
    pub(crate) verdict: Verdict,
    /// The position of the charge, if it was taken and the receipt has not been.
    pub(crate) mark: Option<Mark>,
}

impl TierDecision {
    /// Without a charge taken.
    pub(crate) fn new(charge: Charge, verdict: Verdict) -> Self {
        let mark = None;
        Self { charge, verdict, mark }
    }

    /// The limit.
    pub fn limit(&self) -> &Limit {
        &self.charge.limit
    }

    /// The key that the request was counted by.
    pub fn key(&self) -> &Key {
        &self.charge.key
    }

    /// Whether the tier is a shadow, which is evaluated but neither denies nor delays.
    pub fn is_shadow(&self) -> bool {
        self.charge.shadow
    }

    /// Whether headers and bodies report it to clients. A shadow is never visible.
    pub fn is_visible(&self) -> bool {
        !self.charge.hidden && !self.charge.shadow
    }

    /// Whether it is why the request has to wait for `retry_after`.
    pub(crate) fn requires_wait(&self, retry_after: Duration) -> bool {
        !self.is_shadow() && self.verdict.retry_after() == Some(retry_after)
    }

    /// Whether it does not deny the request.
    pub(crate) fn passes(&self) -> bool {
        self.charge.shadow || self.verdict.outcome.admits()
    }

    /// Removes the delay, for a request that another tier denies.
    #[cfg(feature = "redis")]
    pub(crate) fn clear_delay(&mut self) {
        if let Outcome::Admitted { delay } = &mut self.verdict.outcome {
            *delay = 0;
        }
    }

    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }
}

impl Decision {
    pub(crate) fn new(now: Micros, tiers: TierDecisions) -> Self {
        Self {
            now,
            tiers,
            source: DecisionSource::Store,
            is_partial: false,
        }
    }

    /// For a request with one tier.
    pub(crate) fn of_one(now: Micros, tier: TierDecision) -> Self {
        Self::new(now, TierDecisions::from_buf([tier]))
    }

    /// For a request that no limit applies to.
    pub(crate) fn exempt(now: Micros) -> Self {
        Self::new(now, TierDecisions::new())
    }

    /// For a request that passes because the store failed.
    pub(crate) fn unchecked(now: Micros) -> Self {
        Self {
            source: DecisionSource::None,
            ..Self::exempt(now)
        }
    }

    /// Marks it as made by the fallback.
    pub(crate) fn by_fallback(self) -> Self {
        Self {
            source: DecisionSource::Fallback,
            ..self
        }
    }

    pub(crate) fn with_source_of(self, other: &Self) -> Self {
        let source = other.source;
        Self { source, ..self }
    }

    pub(crate) fn source(&self) -> DecisionSource {
        self.source
    }

    /// Marks it as covering only some of the tiers: the store failed for the others.
    #[cfg(feature = "redis")]
    pub(crate) fn partial(self) -> Self {
        let is_partial = true;
        Self { is_partial, ..self }
    }

    /// Prepends the tiers of an outer layer's decision.
    pub(crate) fn with_outer_tiers(mut self, outer: &Self) -> Self {
        self.tiers.insert_many(0, outer.tiers.iter().cloned());
        self.source = self.source.max(outer.source);
        self
    }

    #[cfg(feature = "redis")]
    pub(crate) fn set_verdict(&mut self, tier: usize, verdict: Verdict) {
        self.tiers[tier].verdict = verdict;
    }

    #[cfg(feature = "redis")]
    pub(crate) fn into_tiers(self) -> TierDecisions {
        self.tiers
    }

    /// Whether the request may pass: every tier that is not a shadow admits it.
    pub fn admits(&self) -> bool {
        self.tiers.iter().all(TierDecision::passes)
    }

    /// The combined outcome: impossible if one tier is, otherwise with the longest `retry_after` or delay of all tiers.
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

    /// When the request would be admitted if no other request is charged before; only for a limited request.
    pub fn retry_after(&self) -> Option<Duration> {
        self.outcome().retry_after()
    }

    /// How long an admitted request is delayed.
    pub fn delay(&self) -> Duration {
        self.outcome().delay()
    }

    /// The first tier that denies the request.
    pub(crate) fn denied_by(&self) -> Option<&TierDecision> {
        self.tiers.iter().find(|tier| !tier.passes())
    }

    /// The tier with the longest delay of an admitted request.
    pub(crate) fn delayed_by(&self) -> Option<&TierDecision> {
        let delay = self.delay();
        let is_longest = |tier: &&TierDecision| !tier.is_shadow() && tier.verdict.delay() == delay;
        self.tiers.iter().find(is_longest).filter(|_| !delay.is_zero())
    }

    /// Whether the store failed and the request passed without being counted.
    pub fn is_unchecked(&self) -> bool {
        self.source == DecisionSource::None
    }

    /// Whether the store failed and this node's [`fallback`](crate::RateLimitLayer::fallback) decided.
    pub fn is_by_fallback(&self) -> bool {
        self.source == DecisionSource::Fallback
    }

    /// Whether the response may settle or refund one of the charges.
    pub(crate) fn is_provisional(&self) -> bool {
        self.tiers.iter().any(|tier| tier.charge.provisional)
    }

    /// The charges, unless the decision is partial.
    pub(crate) fn charges(&self) -> Option<Charges> {
        let charges = self.tiers.iter().map(|tier| tier.charge.clone());
        (!self.is_partial).then(|| Charges::from_distinct(charges))
    }

    /// A verdict per tier, shadows included.
    pub fn tiers(&self) -> &[TierDecision] {
        &self.tiers
    }

    /// The store's time of the decision, in microseconds since the Unix epoch.
    pub fn now(&self) -> Micros {
        self.now
    }

    /// Advances the decision to the time of a later one about some of its tiers, and takes over their verdicts.
    pub(crate) fn apply_settled(&mut self, settled: &Self) {
        let elapsed = settled.now.saturating_sub(self.now);
        self.now += elapsed;
        for tier in &mut self.tiers {
            tier.verdict = tier.verdict.advanced_by(elapsed);
        }
        for later in &settled.tiers {
            let tiers = self.tiers.iter_mut();
            let same = tiers.filter(|tier| tier.charge.counts_as(&later.charge));
            same.for_each(|tier| tier.verdict = later.verdict);
        }
    }

    /// Puts back a receipt that was not used.
    pub(crate) fn restore_receipt(&mut self, receipt: Receipt) {
        for Charged { charge, mark, .. } in receipt.into_charged() {
            let mut tiers = self.tiers.iter_mut();
            if let Some(tier) = tiers.find(|tier| tier.charge.counts_as(&charge)) {
                tier.mark = Some(mark);
            }
        }
    }

    /// Takes out the receipt of the charges, for a refund or a settle. It exists once: the decision in a request's extensions
    /// has none.
    pub fn take_receipt(&mut self) -> Option<Receipt> {
        let is_by_fallback = self.is_by_fallback();
        let charged = self.tiers.iter_mut().filter_map(|tier| {
            let mark = tier.mark.take()?;
            Some(Charged::new(tier.charge.clone(), mark))
        });
        Receipt::new(charged, is_by_fallback)
    }
}

/// A clone has no receipt: a charge is refunded once.
impl Clone for Decision {
    fn clone(&self) -> Self {
        let without_receipt = |tier: &TierDecision| TierDecision::new(tier.charge.clone(), tier.verdict);
        Self {
            now: self.now,
            // Faster than collecting, for the one tier that most have.
            tiers: match &self.tiers[..] {
                [tier] => TierDecisions::from_buf([without_receipt(tier)]),
                tiers => tiers.iter().map(without_receipt).collect(),
            },
            source: self.source,
            is_partial: self.is_partial,
        }
    }
}
