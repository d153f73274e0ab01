//! What all clones of a service share: what is charged, who decides, who answers, and what happens if nobody decides.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use super::leaving::Asking;
use crate::{charge::Charges, decision::Decision, extract::KeyError, policy::Policy, respond::Rejection, store::Store};

pub(crate) struct Gate<P, St, R> {
    pub(crate) policy: P,
    pub(crate) store: St,
    pub(crate) respond: R,
    pub(crate) on_failure: OnFailure,
    /// Whether it has been said that the service does not provide what requests are counted by.
    pub(crate) misconfigured: AtomicBool,
}

/// What becomes of requests while the store cannot decide.
#[derive(Clone, Debug, Default)]
pub(crate) struct OnFailure {
    pub(crate) closed: bool,
    /// Whether it failed the last time, so that only a change is worth a line in the log.
    failing: Arc<AtomicBool>,
}

/// What is known of a request when it arrives.
pub(super) enum Asked<St: Store> {
    Admitted(Decision),
    Waiting(Asking<St>),
}

impl<P, St: Store, R> Gate<P, St, R> {
    /// Asks the store what becomes of a request; nobody has to be asked about one that no tier applies to.
    pub(super) fn ask<Req>(&self, request: &Req) -> Result<Asked<St>, Rejection>
    where
        P: Policy<Req>,
    {
        let mut charges = Charges::new();
        self.policy.charges(request, &mut charges).map_err(|error| {
            if let KeyError::NotProvided { .. } = error
                && !self.misconfigured.swap(true, Ordering::Relaxed)
            {
                tracing::error!(%error, "requests cannot be counted, and are refused");
            }
            Rejection::Key(error)
        })?;
        if charges.is_empty() {
            return Ok(Asked::Admitted(Decision::exempt(self.store.clock().now())));
        }
        // A place in a queue is asked for when somebody waits for it: else it might be for nobody.
        if charges.queue() {
            return Ok(Asked::Waiting(Asking::new(charges, Some(self.store.clone()))));
        }
        match self.store.acquire_now(charges) {
            Ok(decision) if decision.admits() => Ok(Asked::Admitted(decision)),
            Ok(decision) => Err(Rejection::Limited(decision.into())),
            Err(charges) => Ok(Asked::Waiting(Asking::new(charges, None))),
        }
    }

    /// What the store's answer means: a decision that admits, or a reason not to serve.
    pub(super) fn weigh(&self, answer: Result<Decision, St::Error>) -> Result<Decision, Rejection> {
        let failing = &self.on_failure.failing;
        match answer {
            Ok(decision) => {
                if failing.load(Ordering::Relaxed) && failing.swap(false, Ordering::Relaxed) {
                    tracing::info!("the rate limit's store decides again");
                }
                match decision.admits() {
                    true => Ok(decision),
                    false => Err(Rejection::Limited(decision.into())),
                }
            }
            Err(error) => {
                let (error, closed) = (error.into(), self.on_failure.closed);
                if !failing.swap(true, Ordering::Relaxed) {
                    let requests = if closed { "refused" } else { "let through unchecked" };
                    tracing::warn!(%error, "the rate limit's store cannot decide: requests are {requests} until it can");
                }
                match closed {
                    true => Err(Rejection::Unavailable(error.into())),
                    false => Ok(Decision::unchecked(self.store.clock().now())),
                }
            }
        }
    }
}
