//! What operators are told of a decision, whoever asked for it, a layer or a limiter: a span around it, and a count of it.

use std::fmt::{self, Display};

use tracing::{
    Instrument, Span,
    field::{Empty, debug},
};

use crate::{
    charge::{Charge, Charges},
    decision::Decision,
    measure::{self, By, Fate, Said},
    verdict::Outcome,
};

/// A decision that is being made. Its span is open from when the store is first asked until the request may go, or may not.
#[derive(Debug)]
pub(crate) struct Observed(Span);

impl Observed {
    /// Nobody has to decide.
    pub(crate) const fn nothing() -> Self {
        Self(Span::none())
    }

    /// What is told of the charges is put together when it is written, since with the feature `log` of tracing, which axum turns
    /// on, it is looked at though nobody listens.
    pub(crate) fn new(charges: &Charges) -> Self {
        Self(tracing::debug_span!(
            target: "tollgate::decision",
            "decision",
            limits = %listed(charges, |charge| charge.limit.name()),
            keys = %listed(charges, |charge| charge.key.digest()),
            outcome = Empty,
            by = Empty,
            refused_by = Empty,
            retry_after = Empty,
            delay = Empty,
        ))
    }

    /// A step towards the decision, inside of the span.
    pub(crate) fn inside<T>(&self, step: impl FnOnce() -> T) -> T {
        self.0.in_scope(step)
    }

    /// The same, of steps that have to be waited for.
    pub(crate) async fn during<T>(&self, steps: impl Future<Output = T>) -> T {
        steps.instrument(self.0.clone()).await
    }

    /// Waits for an answer, after which there is no other.
    pub(crate) async fn answer<E>(&mut self, asking: impl Future<Output = Result<Decision, E>>) -> Result<Decision, E> {
        let answer = self.during(asking).await;
        match &answer {
            Ok(decision) => self.decided(decision),
            Err(_) => self.undecided(Fate::Unavailable),
        }
        answer
    }

    /// A store has decided, or its fallback has. A request that is held is still observed.
    pub(crate) fn decided(&mut self, decision: &Decision) {
        count(decision);
        if self.0.is_disabled() {
            return;
        }
        let (outcome, by) = (fate(decision).name(), by(decision).name());
        self.0.record("outcome", outcome).record("by", by);
        if let Some(tier) = decision.refused_by() {
            self.0.record("refused_by", tier.limit().name());
        }
        if let Some(retry_after) = decision.retry_after() {
            self.0.record("retry_after", debug(retry_after));
        }
        match decision.delay() {
            delay if delay.is_zero() => self.close(),
            delay => drop(self.0.record("delay", debug(delay))),
        }
    }

    /// Nobody could decide.
    pub(crate) fn undecided(&mut self, fate: Fate) {
        measure::request(fate, By::Nobody);
        let by = By::Nobody.name();
        self.0.record("outcome", fate.name()).record("by", by);
        self.close();
    }

    /// The request may go, or may not: whatever happens now is no part of the decision.
    pub(crate) fn close(&mut self) {
        *self = Self::nothing();
    }
}

/// Something of each charge, with commas in between.
fn listed<'a, T: Display>(charges: &'a Charges, of: impl Fn(&'a Charge) -> T) -> impl Display {
    struct Listed<'a, F>(&'a [Charge], F);

    impl<'a, T: Display, F: Fn(&'a Charge) -> T> Display for Listed<'a, F> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            for (index, charge) in self.0.iter().enumerate() {
                let comma = if index > 0 { "," } else { "" };
                write!(f, "{comma}{}", (self.1)(charge))?;
            }
            Ok(())
        }
    }

    Listed(charges.as_slice(), of)
}

fn fate(decision: &Decision) -> Fate {
    match decision.outcome() {
        Outcome::Admitted { .. } => Fate::Admitted,
        Outcome::Limited { .. } => Fate::Limited,
        Outcome::Impossible => Fate::Impossible,
    }
}

fn by(decision: &Decision) -> By {
    match decision.is_by_fallback() {
        true => By::Fallback,
        false => By::Store,
    }
}

/// Every tier is counted once: under what it said, or as a shadow that alone would have refused.
fn count(decision: &Decision) {
    measure::request(fate(decision), by(decision));
    let is_admitted = decision.admits();
    for tier in decision.tiers() {
        let measures = tier.limit().measures();
        let said = match tier.verdict().outcome() {
            _ if !is_admitted && tier.lets_pass() => Said::Spared,
            Outcome::Admitted { .. } => Said::Admitted,
            _ if tier.is_shadow() => {
                measures.refused_as_shadow();
                continue;
            }
            Outcome::Limited { .. } => Said::Limited,
            Outcome::Impossible => Said::Impossible,
        };
        measures.decided(said);
    }
}
