//! What all clones of a service share: what is charged, who decides, who answers, and what happens if nobody decides.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::{
    decision::Decision,
    extract::KeyError,
    leaving::Asking,
    policy::{Bill, Policy},
    respond::Rejection,
    store::Store,
};

pub(crate) struct Gate<P, St, R> {
    pub(crate) policy: P,
    pub(crate) store: St,
    pub(crate) respond: R,
    pub(crate) on_failure: OnFailure,
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
    Admitted(Decision),
    Waiting(Asking<St>),
}

impl<P, St: Store, R> Gate<P, St, R> {
    /// Asks the store what becomes of a request; nobody has to be asked about one that no tier applies to.
    pub(super) fn ask<Req>(&self, request: &Req) -> Result<Asked<St>, Rejection>
    where
        P: Policy<Req>,
    {
        let mut bill = Bill::default();
        self.policy.bill(request, &mut bill);
        let charges = bill.due().map_err(|error| {
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
        match answer {
            Ok(decision) if decision.admits() => Ok(decision),
            Ok(decision) => Err(Rejection::Limited(decision.into())),
            // The store tells its owner what is wrong with it, and once; this is about one request of many.
            Err(error) => {
                let (error, on_failure) = (error.into(), self.on_failure);
                tracing::debug!(%error, ?on_failure, "a request is not counted");
                match on_failure {
                    OnFailure::Open => Ok(Decision::unchecked(self.store.clock().now())),
                    OnFailure::Closed => Err(Rejection::Unavailable(error.into())),
                }
            }
        }
    }
}
