//! What all clones of a service share: the policy, the store, the responder, and what happens when the store fails.

use std::{
    error::Error,
    sync::atomic::{AtomicBool, Ordering},
};

use super::settings::{OnFailure, Settings};
use crate::{
    cancellation::{self, PendingAcquire, PendingSettle},
    charge::Charges,
    clock::Clock,
    decision::{Decision, TierDecision, UncheckedTiers},
    decision_span::{self, DecisionSpan},
    extract::KeyError,
    metrics::{self, DecisionSource, RequestOutcome},
    permit::Permit,
    policy::{ChargeBuilder, NotCharged, Policy, SettleLater, Settlement},
    respond::{Rejection, Respond},
    store::Store,
    wait_queue::{self, QueuedDecision, WaitConfig},
};

pub(crate) struct Enforcer<P, St, R> {
    pub(super) policy: P,
    pub(super) store: St,
    pub(super) respond: R,
    on_failure: OnFailure,
    /// How long denied requests wait, if waiting is enabled.
    wait: Option<WaitConfig>,
    /// Whether the missing configuration behind a [`KeyError::NotProvided`] has been logged.
    misconfigured: AtomicBool,
}

/// A request that is not admitted within `call`.
pub(super) enum NotAdmitted<St: Store> {
    Deferred(Deferred<St>),
    Pending(PendingAcquire<St>),
}

/// A request that cannot be served at once.
pub(super) enum Deferred<St: Store> {
    Queued(QueuedDecision<St>),
    Rejected(Rejection),
}

impl<St: Store> From<Deferred<St>> for NotAdmitted<St> {
    fn from(deferred: Deferred<St>) -> Self {
        Self::Deferred(deferred)
    }
}

impl<P, St, R> Enforcer<P, St, R> {
    pub(super) fn new(policy: P, settings: Settings<St, R>) -> Self {
        let Settings {
            store,
            respond,
            on_failure,
            wait,
        } = settings;
        Self {
            policy,
            store,
            respond,
            on_failure,
            wait,
            misconfigured: AtomicBool::new(false),
        }
    }
}

impl<P, St, R> Enforcer<P, St, R> {
    /// Adds the decision and the permit to an admitted request.
    pub(super) fn forward<Req, Res, E>(&self, decision: &Decision, permit: Option<&Permit>, request: &mut Req)
    where
        R: Respond<Req, Res, E>,
    {
        self.respond.forward(decision, request);
        if let Some(permit) = permit {
            self.respond.forward_permit(permit, request);
        }
    }

    /// Adds the decision to the response of an admitted request, and lets it hold the slots until it has been sent.
    pub(super) fn admit_response<Req, Res, E>(
        &self,
        context: R::Context,
        decision: &Decision,
        permit: Option<Permit>,
        response: &mut Res,
    ) where
        R: Respond<Req, Res, E>,
    {
        self.respond.admit(context, decision, response);
        if let Some(permit) = permit {
            self.respond.hold(permit, response);
        }
    }
}

impl<P, St: Store, R> Enforcer<P, St, R> {
    /// Collects the charges of a request, and decides if the store can without waiting.
    #[inline]
    pub(super) fn admit<Req, Res>(&self, request: &Req, span: &mut DecisionSpan) -> Result<Decision, NotAdmitted<St>>
    where
        P: Policy<Req, Res>,
    {
        let mut charges = ChargeBuilder::default();
        self.policy.charge(request, &mut charges);
        let mut charges = match charges.finish() {
            Ok(charges) => charges,
            Err(why) => return Err(Deferred::Rejected(reject_uncharged(why, &self.misconfigured)).into()),
        };
        if charges.is_empty() {
            metrics::count_request(RequestOutcome::Exempt, DecisionSource::None);
            return Ok(Decision::exempt(self.store.clock().now()));
        }
        if let OnFailure::Closed = self.on_failure {
            charges.set_fails_open(false);
        }
        *span = DecisionSpan::new(&charges);
        self.acquire(charges, span)
    }

    #[inline]
    fn acquire(&self, charges: Charges, span: &mut DecisionSpan) -> Result<Decision, NotAdmitted<St>> {
        let wait = self.wait.as_ref();
        if let Some(queued) = wait.and_then(|wait| wait.join_existing(&self.store, &charges)) {
            return Err(Deferred::Queued(queued).into());
        }
        // Deferred to the first poll: a future that is never polled must not hold a place in the queue.
        if charges.may_queue() {
            return Err(NotAdmitted::Pending(PendingAcquire::refundable(&self.store, charges)));
        }
        match span.in_scope(|| self.store.acquire_now(charges)) {
            Ok(decision) if decision.admits() => {
                record_admitted(&decision, span);
                Ok(decision)
            }
            Ok(decision) => Err(self.defer(decision, span).into()),
            Err(charges) => Err(NotAdmitted::Pending(PendingAcquire::new(&self.store, charges))),
        }
    }

    /// Concludes the store's result, unless it is a denial that the request can wait out. `is_enforced` is whether a tier may deny the
    /// request: one that has only shadows passes without them.
    pub(super) fn decide_or_queue(
        &self,
        result: Result<Decision, St::Error>,
        is_enforced: bool,
        span: &mut DecisionSpan,
    ) -> Result<Decision, Deferred<St>> {
        match result {
            Ok(decision) if decision.admits() => {
                record_admitted(&decision, span);
                Ok(decision)
            }
            Ok(decision) => Err(self.defer(decision, span)),
            Err(error) => self.fail(error, is_enforced, span).map_err(Deferred::Rejected),
        }
    }

    /// Queues a denied request if it can wait, or else rejects it.
    fn defer(&self, denial: Decision, span: &mut DecisionSpan) -> Deferred<St> {
        let denial = match &self.wait {
            Some(wait) => match wait.join_after_denial(&self.store, denial.into()) {
                Ok(queued) => return Deferred::Queued(queued),
                Err(denial) => *denial,
            },
            None => denial,
        };
        Deferred::Rejected(reject(denial, span))
    }

    /// Records the store's final result about a request that waited, and applies the failure mode if the store failed for the whole
    /// request.
    pub(super) fn finalize(
        &self,
        result: Result<Decision, St::Error>,
        span: &mut DecisionSpan,
    ) -> Result<Decision, Rejection> {
        match result {
            Ok(decision) if decision.admits() => {
                record_admitted(&decision, span);
                Ok(decision)
            }
            Ok(decision) => Err(reject(decision, span)),
            Err(error) => self.fail(error, true, span),
        }
    }

    #[cold]
    fn fail(&self, error: St::Error, is_enforced: bool, span: &mut DecisionSpan) -> Result<Decision, Rejection> {
        let on_failure = if is_enforced { self.on_failure } else { OnFailure::Open };
        apply_failure_mode(on_failure, error.into(), self.store.clock(), span)
    }

    /// The permit of the slots that an admitted request holds, if it holds any.
    #[inline]
    pub(super) fn permit(&self, decision: &mut Decision) -> Option<Permit> {
        wait_queue::permit(&self.store, decision, self.wait.as_ref().map(|wait| &wait.queues))
    }

    /// Settles the charges by the response, if a tier corrects them.
    pub(super) fn settle<Req, Res>(&self, response: &mut Res, decision: &mut Decision) -> Option<PendingSettle<St>>
    where
        P: Policy<Req, Res>,
    {
        if !decision.is_provisional() {
            return None;
        }
        let later = || -> SettleLater {
            let store = self.store.clone();
            Box::new(move |receipt| cancellation::settle(&store, receipt))
        };
        let mut settlement = Settlement::new(decision.take_receipt()?, &later);
        self.policy.settle(response, &mut settlement);
        let receipt = settlement.finish()?;
        Some(PendingSettle::new(&self.store, receipt))
    }
}

/// Applies the failure mode. The store logs its own failure once, at a higher level; this event is per request.
///
/// Like the other functions below, it is not generic, so that it is compiled once and not with every layer.
#[cold]
fn apply_failure_mode(
    on_failure: OnFailure,
    error: Box<dyn Error + Send + Sync>,
    clock: &Clock,
    span: &mut DecisionSpan,
) -> Result<Decision, Rejection> {
    tracing::debug!(target: "tollgate::decision", %error, ?on_failure, "store failed to decide");
    match on_failure {
        OnFailure::Open => {
            span.record_store_failure(RequestOutcome::FailedOpen);
            Ok(Decision::unchecked(clock.now()))
        }
        OnFailure::Closed => {
            span.record_store_failure(RequestOutcome::FailedClosed);
            Err(Rejection::Unavailable(error.into()))
        }
    }
}

/// Rejects a request that was not charged. `misconfigured` is whether the service was found to not provide a key before.
#[cold]
fn reject_uncharged(why: NotCharged, misconfigured: &AtomicBool) -> Rejection {
    let error = match why {
        NotCharged::Blocked => {
            metrics::count_request(RequestOutcome::Blocked, DecisionSource::None);
            return Rejection::Blocked;
        }
        NotCharged::Key(error) => error,
    };
    let outcome = match error {
        KeyError::Ambiguous { .. } => RequestOutcome::AmbiguousKey,
        _ => RequestOutcome::MissingKey,
    };
    metrics::count_request(outcome, DecisionSource::None);
    if let KeyError::NotProvided { .. } = error
        && !misconfigured.swap(true, Ordering::Relaxed)
    {
        tracing::error!(target: "tollgate::decision", %error, "requests rejected: the service does not provide their key");
    }
    Rejection::Key(error)
}

/// Records a final decision that admits the request.
#[inline]
fn record_admitted(decision: &Decision, span: &mut DecisionSpan) {
    span.record_decision(decision);
    log_unchecked(decision);
    decision.tiers().iter().for_each(log_shadow_denial);
}

/// Records a final decision that denies the request.
fn reject(denial: Decision, span: &mut DecisionSpan) -> Rejection {
    span.record_decision(&denial);
    log_unchecked(&denial);
    Rejection::Limited(denial.into())
}

/// Logs a rejection as one event.
pub(super) fn log_rejection(why: &Rejection) {
    match why {
        Rejection::Limited(decision) => {
            if let Some(tier) = decision.denied_by() {
                let (limit, outcome) = (tier.limit().name(), tier.verdict().outcome());
                let key = tier.key().digest();
                tracing::debug!(target: "tollgate::decision", limit, %key, %outcome, "request denied");
            }
        }
        Rejection::Key(error) => {
            tracing::debug!(target: "tollgate::decision", %error, "request rejected: its key is missing or ambiguous");
        }
        Rejection::Blocked => tracing::debug!(target: "tollgate::decision", "request blocked"),
        // Logged when the store failed.
        Rejection::Unavailable(_) => {}
    }
}

/// Logs that the store failed for some limits, at the level at which it logs that it failed for all.
#[inline]
fn log_unchecked(decision: &Decision) {
    if let Some(UncheckedTiers { charges, error, .. }) = decision.unchecked_tiers() {
        let limits = decision_span::limits(charges);
        tracing::debug!(target: "tollgate::decision", %limits, %error, "store failed to decide about some limits");
    }
}

#[inline]
fn log_shadow_denial(tier: &TierDecision) {
    if tier.is_shadow() && !tier.verdict().outcome().admits() {
        let (limit, outcome) = (tier.limit().name(), tier.verdict().outcome());
        let key = tier.key().digest();
        tracing::debug!(target: "tollgate::decision", limit, %key, %outcome, "shadow would have denied request");
    }
}
