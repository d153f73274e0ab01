//! What all clones of a service share: what is charged, who decides, who answers, and what happens if nobody decides.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{
    charge::Charges,
    decision::{Decision, Tier},
    extract::KeyError,
    leaving::{self, Asking, Correcting},
    measure::{self, By, Fate},
    observed::Observed,
    policy::{Bill, Correction, Policy, SettleLater, Unbilled},
    respond::Rejection,
    store::Store,
    waiting::{Patience, Waiting},
};

pub(crate) struct Gate<P, St, R> {
    pub(crate) policy: P,
    pub(crate) store: St,
    pub(crate) respond: R,
    pub(crate) on_failure: OnFailure,
    /// How long requests wait in place of being refused, if they do.
    pub(crate) patience: Option<Patience>,
    /// Whether it has been said that the service does not provide what requests are counted by.
    pub(crate) misconfigured: AtomicBool,
}

/// What becomes of requests while the store cannot decide.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum OnFailure {
    #[default]
    Open,
    Closed,
}

/// What is known of a request when it arrives.
pub(super) enum Asked<St: Store> {
    Answered(Result<Decision, PutOff<St>>),
    Asking(Asking<St>),
}

/// What becomes of a request that cannot be served at once.
pub(super) enum PutOff<St: Store> {
    Waiting(Waiting<St>),
    Rejected(Rejection),
}

impl<P, St: Store, R> Gate<P, St, R> {
    /// What becomes of a request that arrives, and how that is observed; nobody has to be asked about one that no tier applies
    /// to.
    pub(super) fn ask<Req, Res>(&self, request: &Req) -> (Asked<St>, Observed)
    where
        P: Policy<Req, Res>,
    {
        let mut bill = Bill::default();
        self.policy.bill(request, &mut bill);
        let charges = match bill.due() {
            Ok(charges) => charges,
            Err(why) => {
                let rejected = Err(PutOff::Rejected(self.unbilled(why)));
                return (Asked::Answered(rejected), Observed::nothing());
            }
        };
        if charges.is_empty() {
            measure::request(Fate::Exempt, By::Nobody);
            let exempt = Ok(Decision::exempt(self.store.clock().now()));
            return (Asked::Answered(exempt), Observed::nothing());
        }
        let mut observed = Observed::new(&charges);
        (self.ask_about(charges, &mut observed), observed)
    }

    fn ask_about(&self, charges: Charges, observed: &mut Observed) -> Asked<St> {
        let line = self.patience.as_ref();
        if let Some(waiting) = line.and_then(|patience| patience.in_line(&self.store, &charges)) {
            return Asked::Answered(Err(PutOff::Waiting(waiting)));
        }
        // A place in a queue is asked for when somebody waits for it: else it might be for nobody.
        if charges.queue() {
            return Asked::Asking(Asking::new(charges, Some(self.store.clone())));
        }
        match observed.inside(|| self.store.acquire_now(charges)) {
            Ok(decision) => Asked::Answered(self.weigh(Ok(decision), observed)),
            Err(charges) => Asked::Asking(Asking::new(charges, None)),
        }
    }

    /// What the store's answer means for a request that may still wait for a better one.
    pub(super) fn weigh(
        &self,
        answer: Result<Decision, St::Error>,
        observed: &mut Observed,
    ) -> Result<Decision, PutOff<St>> {
        let answer = match (answer, &self.patience) {
            (Ok(refusal), Some(patience)) if !refusal.admits() => match patience.after(&self.store, refusal.into()) {
                Ok(waiting) => return Err(PutOff::Waiting(waiting)),
                Err(refusal) => Ok(*refusal),
            },
            (answer, _) => answer,
        };
        self.judge(answer, observed).map_err(PutOff::Rejected)
    }

    /// What the store's last answer means: a decision that admits, or a reason not to serve.
    pub(super) fn judge(
        &self,
        answer: Result<Decision, St::Error>,
        observed: &mut Observed,
    ) -> Result<Decision, Rejection> {
        match answer {
            Ok(decision) => {
                observed.decided(&decision);
                if !decision.admits() {
                    return Err(Rejection::Limited(decision.into()));
                }
                decision.tiers().iter().for_each(report_shadow);
                Ok(decision)
            }
            // The store tells its owner what is wrong with it, and once; this is about one request of many.
            Err(error) => {
                let (error, on_failure) = (error.into(), self.on_failure);
                tracing::debug!(%error, ?on_failure, "nobody could decide about a request");
                match on_failure {
                    OnFailure::Open => {
                        observed.undecided(Fate::Unchecked);
                        Ok(Decision::unchecked(self.store.clock().now()))
                    }
                    OnFailure::Closed => {
                        observed.undecided(Fate::Unavailable);
                        Err(Rejection::Unavailable(error.into()))
                    }
                }
            }
        }
    }

    /// Corrects what a request was charged by its response, if the policy says so.
    pub(super) fn correct<Req, Res>(&self, response: &mut Res, decision: &mut Decision) -> Option<Correcting<St>>
    where
        P: Policy<Req, Res>,
    {
        if !decision.is_provisional() {
            return None;
        }
        let later = || -> SettleLater {
            let store = self.store.clone();
            Box::new(move |receipt| leaving::settle(&store, receipt))
        };
        let mut correction = Correction::new(decision.take_receipt()?, &later);
        self.policy.correct(response, &mut correction);
        self.policy.correct_later(response, &mut correction);
        let receipt = correction.due()?;
        Some(Correcting::new(&self.store, receipt))
    }

    fn unbilled(&self, why: Unbilled) -> Rejection {
        let error = match why {
            Unbilled::Denied => {
                measure::request(Fate::Denied, By::Nobody);
                return Rejection::Denied;
            }
            Unbilled::Key(error) => error,
        };
        measure::request(Fate::Uncounted, By::Nobody);
        if let KeyError::NotProvided { .. } = error
            && !self.misconfigured.swap(true, Ordering::Relaxed)
        {
            tracing::error!(%error, "requests cannot be counted, and are refused");
        }
        Rejection::Key(error)
    }
}

/// Tells whoever listens why a request is not served, in one line.
pub(super) fn report(why: &Rejection) {
    match why {
        Rejection::Limited(decision) => {
            if let Some(tier) = decision.refused_by() {
                let (limit, outcome) = (tier.limit().name(), tier.verdict().outcome());
                tracing::debug!(limit, key = %tier.key().digest(), %outcome, "a request is refused");
            }
        }
        Rejection::Key(error) => tracing::debug!(%error, "a request cannot be counted, and is refused"),
        Rejection::Denied => tracing::debug!("a request is denied"),
        // It was told when the store failed.
        Rejection::Unavailable(_) => {}
    }
}

/// A shadow refuses nobody, so whoever tries a limit out has to be told whom it would have refused.
fn report_shadow(tier: &Tier) {
    if tier.is_shadow() && !tier.verdict().outcome().admits() {
        let (limit, outcome) = (tier.limit().name(), tier.verdict().outcome());
        tracing::debug!(limit, key = %tier.key().digest(), %outcome, "a shadow would have refused a request");
    }
}
