//! The decision about a request: a verdict per tier, and their combined outcome.

use std::{error::Error, ops::Deref, sync::Arc, time::Duration};

use smallvec::SmallVec;
use tokio::time::Instant;

use crate::{
    algorithm::{AnyAlgorithm, Mark},
    charge::{Charge, Charges, Settling},
    key::Key,
    limit::Limit,
    metrics::DecisionSource,
    receipt::{Charged, Receipt},
    time::Micros,
    verdict::{Outcome, RawOutcome, Verdict},
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
    /// What the store did not decide because it failed. Boxed: only such decisions pay for it.
    failure: Option<Box<StoreFailure>>,
}

#[derive(Clone, Debug, Default)]
struct StoreFailure {
    source: DecisionSource,
    /// For each tier, whether the fallback decided about it; empty if one source decided about all.
    by_fallback: Vec<bool>,
    unchecked: Option<UncheckedTiers>,
}

/// A [`Decision`] in the extensions of a request, for handlers and inner layers. It includes the decisions of outer layers, and has no
/// receipt. With axum, extract the [`Decision`] itself.
///
/// ```
/// use http::Request;
/// use tollgate::DecisionExtension;
///
/// fn remaining<B>(request: &Request<B>) -> Option<u64> {
///     let decision = request.extensions().get::<DecisionExtension>()?;
///     decision.tiers().iter().map(|tier| tier.verdict().remaining()).min()
/// }
/// # assert_eq!(remaining(&Request::new(())), None);
/// ```
#[derive(Debug)]
pub struct DecisionExtension(Decision);

impl DecisionExtension {
    /// A copy of the decision, without its receipt.
    pub fn new(decision: &Decision) -> Self {
        Self(decision.without_receipt())
    }

    /// Prepends the tiers of an outer layer's decision.
    pub(crate) fn with_outer_tiers(self, outer: &Self) -> Self {
        Self(self.0.with_outer_tiers(outer))
    }
}

impl Clone for DecisionExtension {
    fn clone(&self) -> Self {
        Self::new(&self.0)
    }
}

impl Deref for DecisionExtension {
    type Target = Decision;

    fn deref(&self) -> &Decision {
        &self.0
    }
}

/// The tiers that the store failed for, while it decided about others.
#[derive(Clone, Debug)]
pub(crate) struct UncheckedTiers {
    pub(crate) charges: Charges,
    pub(crate) error: Arc<dyn Error + Send + Sync>,
    /// The deadline of the request.
    pub(crate) deadline: Instant,
}

impl StoreFailure {
    /// For a decision about all tiers by one source.
    fn by(source: DecisionSource) -> Option<Box<Self>> {
        let failure = Self {
            source,
            ..Self::default()
        };
        (source != DecisionSource::Store).then(|| Box::new(failure))
    }

    /// Whether the fallback decided about this tier.
    fn is_by_fallback(&self, tier: usize) -> bool {
        self.source == DecisionSource::Fallback && self.by_fallback.get(tier).is_none_or(|by_fallback| *by_fallback)
    }
}

impl UncheckedTiers {
    /// Prepends those of an outer layer.
    fn with_outer_tiers(self, outer: &Self) -> Self {
        let outer = outer.charges.as_slice().iter().cloned();
        Self {
            charges: Charges::from_distinct(outer.chain(self.charges.into_each())),
            ..self
        }
    }
}

/// The decision about one tier.
#[derive(Debug)]
pub struct TierDecision {
    pub(crate) charge: Charge,
    pub(crate) verdict: Verdict,
    /// The position of the charge, if it was taken and the receipt has not been.
    pub(crate) mark: Option<Mark>,
}

impl TierDecision {
    /// The decision about a charge that was not taken, because it was denied, peeked at, or costs nothing. For stores of your own that
    /// do not use [`Operation::apply_to`](crate::Operation::apply_to).
    pub fn new(charge: Charge, verdict: Verdict) -> Self {
        let mark = None;
        Self { charge, verdict, mark }
    }

    /// Marks the charge as taken, at this position.
    #[must_use]
    pub fn with_mark(self, mark: Mark) -> Self {
        let mark = Some(mark);
        Self { mark, ..self }
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

    /// Whether it limits what is held at once, so that it is not known when a denied request would be admitted.
    pub(crate) fn is_concurrency(&self) -> bool {
        self.charge.holds_slots()
    }

    /// For how long it is known to deny the request: for a time only if that is exact.
    pub(crate) fn denied_for(&self) -> Duration {
        match self.verdict.retry_after() {
            Some(retry_after) if !self.is_concurrency() => retry_after,
            _ => Duration::ZERO,
        }
    }

    /// Whether it does not deny the request.
    #[inline]
    pub(crate) fn passes(&self) -> bool {
        self.charge.shadow || self.verdict.outcome.admits()
    }

    /// Removes the delay, for a request that another tier denies.
    pub(crate) fn clear_delay(&mut self) {
        if let RawOutcome::Admitted { delay } = &mut self.verdict.outcome {
            *delay = 0;
        }
    }

    /// The verdict.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }
}

/// A clone is without the mark of a charge that was taken: the receipt belongs to the [`Decision`].
impl Clone for TierDecision {
    fn clone(&self) -> Self {
        Self::new(self.charge.clone(), self.verdict)
    }
}

impl Decision {
    /// A decision at a time of the store, about the charges of an operation, in their order. For stores of your own that do not use
    /// [`Operation::apply_to`](crate::Operation::apply_to).
    pub fn from_tiers(now: Micros, tiers: impl IntoIterator<Item = TierDecision>) -> Self {
        Self::new(now, tiers.into_iter().collect())
    }

    #[inline]
    pub(crate) fn new(now: Micros, tiers: TierDecisions) -> Self {
        Self {
            now,
            tiers,
            failure: None,
        }
    }

    /// For a request with one tier.
    #[inline]
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
            failure: StoreFailure::by(DecisionSource::None),
            ..Self::exempt(now)
        }
    }

    /// Marks it as made by the fallback.
    pub(crate) fn by_fallback(self) -> Self {
        Self {
            failure: StoreFailure::by(DecisionSource::Fallback),
            ..self
        }
    }

    pub(crate) fn with_source_of(self, other: &Self) -> Self {
        Self {
            failure: StoreFailure::by(other.source()),
            ..self
        }
    }

    pub(crate) fn source(&self) -> DecisionSource {
        self.failure
            .as_ref()
            .map_or(DecisionSource::Store, |failure| failure.source)
    }

    /// Adds the tiers that the store failed for.
    #[cfg(feature = "redis")]
    pub(crate) fn with_unchecked_tiers(mut self, unchecked: UncheckedTiers) -> Self {
        self.failure.get_or_insert_default().unchecked = Some(unchecked);
        self
    }

    /// The tiers that the store failed for, while it decided about others.
    pub(crate) fn unchecked_tiers(&self) -> Option<&UncheckedTiers> {
        self.failure.as_ref()?.unchecked.as_ref()
    }

    /// Takes out the tiers that the store failed for, to ask the fallback about them.
    pub(crate) fn take_unchecked_tiers(&mut self) -> Option<UncheckedTiers> {
        self.failure.as_mut()?.unchecked.take()
    }

    /// Adds the tiers that the fallback decided about, in the order of the charges. If the fallback denies, no tier delays.
    pub(crate) fn with_fallback_tiers(self, fallback: Self, order: &Charges) -> Self {
        let by_store = self.tiers.into_iter().map(|tier| (false, tier));
        let by_fallback = fallback.tiers.into_iter().map(|tier| (true, tier));
        let mut tiers: Vec<_> = by_store.chain(by_fallback).collect();
        let order = order.as_slice();
        tiers.sort_by_key(|(_, tier)| order.iter().position(|charge| charge.counts_as(&tier.charge)));
        if !tiers.iter().all(|(_, tier)| tier.passes()) {
            tiers.iter_mut().for_each(|(_, tier)| tier.clear_delay());
        }
        let (by_fallback, tiers) = tiers.into_iter().unzip();
        let failure = StoreFailure {
            source: DecisionSource::Fallback,
            by_fallback,
            unchecked: None,
        };
        Self {
            now: self.now,
            tiers,
            failure: Some(failure.into()),
        }
    }

    /// Prepends the tiers of an outer layer's decision.
    pub(crate) fn with_outer_tiers(mut self, outer: &Self) -> Self {
        self.tiers.insert_many(0, outer.tiers.iter().cloned());
        if let Some(outer) = &outer.failure {
            let failure = self.failure.get_or_insert_default();
            failure.source = failure.source.max(outer.source);
            failure.unchecked = match (failure.unchecked.take(), &outer.unchecked) {
                (Some(inner), Some(outer)) => Some(inner.with_outer_tiers(outer)),
                (inner, outer) => inner.or_else(|| outer.clone()),
            };
        }
        self
    }

    #[cfg(feature = "redis")]
    pub(crate) fn tiers_mut(&mut self) -> &mut [TierDecision] {
        &mut self.tiers
    }

    #[cfg(feature = "redis")]
    pub(crate) fn set_verdict(&mut self, tier: usize, verdict: Verdict) {
        self.tiers[tier].verdict = verdict;
    }

    /// Inserts tiers at their positions among all tiers, in ascending order.
    #[cfg(feature = "redis")]
    pub(crate) fn with_tiers_at(mut self, tiers: Vec<(usize, TierDecision)>) -> Self {
        for (position, tier) in tiers {
            self.tiers.insert(position.min(self.tiers.len()), tier);
        }
        self
    }

    #[cfg(feature = "redis")]
    pub(crate) fn into_tiers(self) -> TierDecisions {
        self.tiers
    }

    /// Whether the request may pass: every tier that is not a shadow admits it.
    #[inline]
    pub fn admits(&self) -> bool {
        self.tiers.iter().all(TierDecision::passes)
    }

    /// The combined outcome: impossible if one tier is, otherwise with the longest `retry_after` or delay of all tiers. The hint of a
    /// concurrency limit counts only if no other tier denies the request.
    pub fn outcome(&self) -> Outcome {
        let binding = self.binding_tier().map(|tier| tier.verdict.outcome);
        binding.unwrap_or(RawOutcome::Admitted { delay: 0 }).into()
    }

    /// The first tier that determines the outcome.
    pub(crate) fn binding_tier(&self) -> Option<&TierDecision> {
        let binding = self.tiers.iter().rev().filter(|tier| !tier.is_shadow());
        binding.max_by_key(|tier| match tier.verdict.outcome {
            RawOutcome::Admitted { delay } => (0, delay),
            RawOutcome::Limited { .. } if tier.is_concurrency() => (1, 0),
            RawOutcome::Limited { retry_after } => (1, retry_after),
            RawOutcome::Impossible => (2, 0),
        })
    }

    /// Whether the request is denied only because all slots of a concurrency limit are held.
    pub(crate) fn waits_for_slot(&self) -> bool {
        let binding = self.binding_tier();
        binding.is_some_and(|tier| tier.is_concurrency() && matches!(tier.verdict.outcome, RawOutcome::Limited { .. }))
    }

    /// Whether a denial reports that the service is unavailable: a request that can never pass is not told to try again.
    pub(crate) fn is_unavailable(&self) -> bool {
        let binding = self.binding_tier().filter(|_| self.waits_for_slot());
        binding.is_some_and(|tier| match tier.limit().algorithm() {
            AnyAlgorithm::Concurrency(concurrency) => concurrency.unavailable,
            _ => false,
        })
    }

    /// When the request would be admitted if no other request is charged before; only for a limited request.
    ///
    /// It can exceed the limit's window, for example if the limit was lowered or the request costs more than 1:
    /// [all reasons](crate::guide::headers#times-that-exceed-the-window).
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

    /// Whether the store failed and the request passed without being counted by any limit of a layer. If only some of its limits were
    /// not checked, [`unchecked_limits`](Self::unchecked_limits) returns them, and this is false. With nested layers, whether one of
    /// them passed it so.
    pub fn is_unchecked(&self) -> bool {
        self.source() == DecisionSource::None
    }

    /// The limits that the store failed for, while it decided about the other limits of the request: in a cluster, those whose
    /// nodes are down. They are not among the [`tiers`](Self::tiers).
    ///
    /// A request passes without them if its layer [fails open](crate::RateLimitLayer::fail_open), and without shadows always. There
    /// are none if the store failed for all limits: then [`is_unchecked`](Self::is_unchecked) is true.
    ///
    /// ```
    /// # use tollgate::Decision;
    /// /// Whether every limit was checked, so that a request which costs money may be served.
    /// fn is_complete(decision: &Decision) -> bool {
    ///     !decision.is_unchecked() && decision.unchecked_limits().next().is_none()
    /// }
    /// ```
    pub fn unchecked_limits(&self) -> impl Iterator<Item = &Limit> {
        let charges = self.unchecked_tiers().map(|unchecked| unchecked.charges.as_slice());
        charges.into_iter().flatten().map(|charge| &charge.limit)
    }

    /// Whether it admits the request although a limit that could deny it was not checked.
    pub(crate) fn fails_open(&self) -> bool {
        let could_deny = |unchecked: &UncheckedTiers| unchecked.charges.as_slice().iter().any(|charge| !charge.shadow);
        self.unchecked_tiers().is_some_and(could_deny) && self.admits()
    }

    /// Whether the store failed and this node's [`fallback`](crate::RateLimitLayer::fallback) decided, about some of the tiers at
    /// least. False if the decision [is unchecked](Self::is_unchecked).
    pub fn is_by_fallback(&self) -> bool {
        self.source() == DecisionSource::Fallback
    }

    /// Whether the response may settle or refund one of the charges.
    #[inline]
    pub(crate) fn is_provisional(&self) -> bool {
        self.tiers.iter().any(|tier| tier.charge.settling != Settling::Never)
    }

    /// Whether one of the charges is settled by what is read in the response body.
    #[inline]
    pub(crate) fn reads_body(&self) -> bool {
        self.tiers.iter().any(|tier| tier.charge.settling == Settling::ByBody)
    }

    /// The charges, unless the store failed for some of them.
    pub(crate) fn charges(&self) -> Option<Charges> {
        let charges = self.tiers.iter().map(|tier| tier.charge.clone());
        self.unchecked_tiers()
            .is_none()
            .then(|| Charges::from_distinct(charges))
    }

    /// A verdict per tier, shadows included.
    #[inline]
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
        self.take_over_verdicts(settled);
    }

    /// Takes over the verdicts of a later decision about some of the tiers.
    pub(crate) fn take_over_verdicts(&mut self, later: &Self) {
        for later in &later.tiers {
            let tiers = self.tiers.iter_mut();
            let same = tiers.filter(|tier| tier.charge.counts_as(&later.charge));
            same.for_each(|tier| {
                // The limit may have changed since.
                tier.charge.limit.update_to(&later.charge.limit);
                tier.verdict = later.verdict;
            });
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

    /// A copy without the receipt. A decision is not `Clone`, because a charge is refunded or settled once.
    #[must_use]
    pub fn without_receipt(&self) -> Self {
        Self {
            now: self.now,
            // Faster than collecting, for the one tier that most have.
            tiers: match &self.tiers[..] {
                [tier] => TierDecisions::from_buf([tier.clone()]),
                tiers => tiers.to_vec().into(),
            },
            failure: self.failure.clone(),
        }
    }

    /// Takes out the receipt of the charges, for a refund or a settle. It exists once: the decision in a request's extensions
    /// has none.
    pub fn take_receipt(&mut self) -> Option<Receipt> {
        self.take_receipt_of(|_| true)
    }

    /// The receipt of the charges, if nothing else of the decision is needed: faster than [`take_receipt`](Self::take_receipt).
    pub fn into_receipt(mut self) -> Option<Receipt> {
        if self.failure.is_some() || self.tiers.len() != 1 {
            return self.take_receipt();
        }
        let TierDecision { charge, mark, .. } = self.tiers.pop()?;
        mark.map(|mark| Receipt::of_one(Charged::new(charge, mark, false)))
    }

    /// Takes out the receipt of the slots that the request holds.
    #[inline]
    pub(crate) fn take_held(&mut self) -> Option<Receipt> {
        match self.tiers.iter().any(TierDecision::is_concurrency) {
            true => self.take_receipt_of(TierDecision::is_concurrency),
            false => None,
        }
    }

    fn take_receipt_of(&mut self, is_taken: impl Fn(&TierDecision) -> bool) -> Option<Receipt> {
        let failure = self.failure.as_deref();
        // Faster than collecting, for the one tier that most have.
        if let ([tier], None) = (&mut self.tiers[..], failure) {
            let mark = if is_taken(tier) { tier.mark.take() } else { None };
            return mark.map(|mark| Receipt::of_one(Charged::new(tier.charge.clone(), mark, false)));
        }
        let tiers = self.tiers.iter_mut().enumerate().filter(|(_, tier)| is_taken(tier));
        let charged = tiers.filter_map(|(index, tier)| {
            let mark = tier.mark.take()?;
            let is_by_fallback = failure.is_some_and(|failure| failure.is_by_fallback(index));
            Some(Charged::new(tier.charge.clone(), mark, is_by_fallback))
        });
        Receipt::new(charged)
    }
}
