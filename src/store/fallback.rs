//! A store with another one to fall back on.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use super::{MemoryStore, Store, sealed::Sealed};
use crate::{charge::Charges, clock::Clock, decision::Decision, operation::Operation};

/// A store, and this process's memory for as long as that store cannot decide: the same limits, counted by every node
/// for itself. A layer makes one of its store when it is told to [fall back](crate::RateLimitLayer::fallback).
///
/// Memory starts from nothing when the store fails, and what was charged there does not move to the store when that is
/// back. So over any window, `n` nodes admit what the limit allows, and at most `n` times as much again.
///
/// ```
/// # #[cfg(feature = "redis")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tollgate::StoreError> {
/// use tollgate::{Fallback, Key, Limiter, MemoryStore, Quota, RedisStore, SlidingLog};
///
/// let nobody = RedisStore::connect("redis://127.0.0.1:1")?; // there is no Redis
/// let store = Fallback::new(nobody, MemoryStore::new());
/// let limiter = Limiter::new("daily", SlidingLog::new(Quota::per_day(1)), store);
/// let decision = limiter.check(&Key::GLOBAL).await?;
/// assert!(decision.admits() && decision.is_by_fallback());
/// assert!(!limiter.check(&Key::GLOBAL).await?.admits());
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "redis"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct Fallback<St> {
    store: St,
    memory: MemoryStore,
}

impl<St> Fallback<St> {
    /// The store, and memory for when it fails.
    pub fn new(store: St, memory: MemoryStore) -> Self {
        Self { store, memory }
    }
}

impl<St: Store> Sealed for Fallback<St> {}

impl<St: Store> Store for Fallback<St> {
    type Error = St::Error;
    type Future = FallbackDecision<St>;

    fn apply(&self, operation: Operation) -> Self::Future {
        let memory = self.memory.clone();
        let stage = match operation {
            Operation::Acquire(charges) => {
                let spare = Some(charges.clone());
                let answer = self.store.apply(Operation::Acquire(charges));
                Stage::Asking { answer, spare }
            }
            // Who charged it gives it back.
            Operation::Refund(receipt) if receipt.is_from_fallback() => {
                Stage::remembered(&memory, Operation::Refund(receipt))
            }
            Operation::Settle(receipt) if receipt.is_from_fallback() => {
                Stage::remembered(&memory, Operation::Settle(receipt))
            }
            Operation::Reset(charges) => {
                let Ok(_) = memory.apply(Operation::Reset(charges.clone())).into_inner();
                Stage::asking(&self.store, Operation::Reset(charges))
            }
            operation => Stage::asking(&self.store, operation),
        };
        FallbackDecision { memory, stage }
    }

    fn acquire_now(&self, charges: Charges) -> Result<Decision, Charges> {
        self.store.acquire_now(charges)
    }

    fn clock(&self) -> &Clock {
        self.store.clock()
    }
}

/// The future of a [`Fallback`]'s decision.
#[must_use = "futures do nothing unless polled"]
pub struct FallbackDecision<St: Store> {
    memory: MemoryStore,
    stage: Stage<St>,
}

enum Stage<St: Store> {
    Asking {
        answer: St::Future,
        /// What memory is asked to take if the store cannot.
        spare: Option<Charges>,
    },
    Remembered(Option<Decision>),
}

impl<St: Store> Stage<St> {
    fn asking(store: &St, operation: Operation) -> Self {
        let (answer, spare) = (store.apply(operation), None);
        Self::Asking { answer, spare }
    }

    fn remembered(memory: &MemoryStore, operation: Operation) -> Self {
        let Ok(decision) = memory.apply(operation).into_inner();
        Self::Remembered(Some(decision))
    }
}

impl<St: Store> Future for FallbackDecision<St> {
    type Output = Result<Decision, St::Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        match &mut this.stage {
            Stage::Asking { answer, spare } => {
                let answer = ready!(Pin::new(answer).poll(context));
                Poll::Ready(match (answer, spare.take()) {
                    (Err(_), Some(charges)) => {
                        let Ok(decision) = this.memory.apply(Operation::Acquire(charges)).into_inner();
                        Ok(decision.by_fallback())
                    }
                    (answer, _) => answer,
                })
            }
            Stage::Remembered(decision) => {
                let decision = decision.take();
                Poll::Ready(Ok(decision.expect("a future is not polled again after it is ready")))
            }
        }
    }
}

impl<St: Store> fmt::Debug for FallbackDecision<St> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FallbackDecision").finish_non_exhaustive()
    }
}
