//! The tracing span around a decision, and the metrics that count it, for layers and limiters alike.

use std::fmt::{self, Display};

use tracing::{
    Instrument, Level, Span,
    field::{Empty, debug, display},
    level_filters::LevelFilter,
};

use crate::{
    charge::{Charge, Charges},
    decision::Decision,
    metrics::{self, DecisionSource, RequestOutcome, TierOutcome},
    verdict::Outcome,
};

/// The span of a decision: open from the first call to the store until the request is admitted or rejected, including its
/// delay.
#[derive(Debug)]
pub(crate) struct DecisionSpan(Span);

impl DecisionSpan {
    /// For a request that needs no decision.
    pub(crate) const fn none() -> Self {
        Self(Span::none())
    }

    /// Disabled if no subscriber is interested in this level. Otherwise, with tracing's feature `log`, which axum enables, the macro
    /// would collect the fields anyway.
    #[inline]
    pub(crate) fn new(charges: &Charges) -> Self {
        match is_level_enabled() {
            true => Self::with_fields(charges),
            false => Self::none(),
        }
    }

    #[inline(never)]
    fn with_fields(charges: &Charges) -> Self {
        Self(tracing::debug_span!(
            target: "tollgate::decision",
            "decision",
            limits = %limits(charges),
            keys = %joined(charges, |charge| charge.key.digest()),
            outcome = Empty,
            by = Empty,
            by_lease = Empty,
            unchecked = Empty,
            denied_by = Empty,
            retry_after = Empty,
            delay = Empty,
        ))
    }

    pub(crate) fn in_scope<T>(&self, step: impl FnOnce() -> T) -> T {
        match self.0.is_disabled() {
            true => step(),
            false => self.0.in_scope(step),
        }
    }

    pub(crate) async fn instrument<T>(&self, future: impl Future<Output = T>) -> T {
        future.instrument(self.0.clone()).await
    }

    /// Awaits the final result inside the span, and records it.
    pub(crate) async fn record<E>(&mut self, result: impl Future<Output = Result<Decision, E>>) -> Result<Decision, E> {
        let result = DecisionSpan::instrument(self, result).await;
        match &result {
            Ok(decision) => self.record_decision(decision),
            Err(_) => self.record_store_failure(RequestOutcome::FailedClosed),
        }
        result
    }

    /// Records a decision of the store or its fallback. The span stays open while the request is delayed.
    #[inline]
    pub(crate) fn record_decision(&mut self, decision: &Decision) {
        if metrics::ARE_ENABLED {
            count(decision);
        }
        if !self.0.is_disabled() {
            self.record_fields(decision);
        }
    }

    fn record_fields(&mut self, decision: &Decision) {
        let (outcome, source) = (request_outcome(decision).name(), decision.source().name());
        self.0.record("outcome", outcome).record("by", source);
        if let Some(unchecked) = decision.unchecked_tiers() {
            self.0.record("unchecked", display(limits(&unchecked.charges)));
        }
        if let Some(tier) = decision.denied_by() {
            self.0.record("denied_by", tier.limit().name());
        }
        if let Some(retry_after) = decision.retry_after() {
            self.0.record("retry_after", debug(retry_after));
        }
        match decision.delay() {
            delay if delay.is_zero() => self.close(),
            delay => drop(self.0.record("delay", debug(delay))),
        }
    }

    /// Records that the store failed, and what the request's failure mode made of it.
    pub(crate) fn record_store_failure(&mut self, outcome: RequestOutcome) {
        metrics::count_request(outcome, DecisionSource::None);
        let source = DecisionSource::None.name();
        self.0.record("outcome", outcome.name()).record("by", source);
        self.close();
    }

    pub(crate) fn close(&mut self) {
        *self = Self::none();
    }
}

/// Whether a subscriber may be interested in the spans of decisions.
#[inline]
fn is_level_enabled() -> bool {
    Level::DEBUG <= LevelFilter::current()
}

/// Records in the span of the current decision that it was made by leases.
#[cfg(feature = "redis")]
pub(crate) fn record_lease() {
    if is_level_enabled() {
        Span::current().record("by_lease", true);
    }
}

/// The names of the limits, separated by commas.
pub(crate) fn limits(charges: &Charges) -> impl Display {
    joined(charges, |charge| charge.limit.name())
}

/// A property of each charge, separated by commas.
fn joined<'a, T: Display>(charges: &'a Charges, property: impl Fn(&'a Charge) -> T) -> impl Display {
    struct Joined<'a, F>(&'a [Charge], F);

    impl<'a, T: Display, F: Fn(&'a Charge) -> T> Display for Joined<'a, F> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            for (index, charge) in self.0.iter().enumerate() {
                let comma = if index > 0 { "," } else { "" };
                write!(f, "{comma}{}", (self.1)(charge))?;
            }
            Ok(())
        }
    }

    Joined(charges.as_slice(), property)
}

fn request_outcome(decision: &Decision) -> RequestOutcome {
    match decision.outcome() {
        Outcome::Admitted { .. } if decision.fails_open() => RequestOutcome::FailedOpen,
        Outcome::Admitted { .. } => RequestOutcome::Admitted,
        Outcome::Limited { .. } => RequestOutcome::Limited,
        Outcome::Impossible => RequestOutcome::Impossible,
    }
}

/// Counts the request, and each tier once: by its outcome, as unchecked, or as a shadow that would have denied the request.
fn count(decision: &Decision) {
    metrics::count_request(request_outcome(decision), decision.source());
    let is_admitted = decision.admits();
    for tier in decision.tiers() {
        let metrics = tier.limit().metrics();
        let outcome = match tier.verdict().outcome() {
            _ if !is_admitted && tier.passes() => TierOutcome::NotCharged,
            Outcome::Admitted { .. } => TierOutcome::Admitted,
            _ if tier.is_shadow() => {
                metrics.count_shadow_denial();
                continue;
            }
            Outcome::Limited { .. } => TierOutcome::Limited,
            Outcome::Impossible => TierOutcome::Impossible,
        };
        metrics.count_decision(outcome);
    }
    for limit in decision.unchecked_limits() {
        limit.metrics().count_decision(TierOutcome::Unchecked);
    }
}
