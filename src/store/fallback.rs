//! A store with a memory store to fall back on.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use super::{MemoryStore, Store, store::Sealed};
use crate::{charge::Charges, clock::Clock, decision::Decision, operation::Operation};

/// A store with a memory store that decides while the first one fails: each node then applies the same limits on its own.
/// [`RateLimitLayer::fallback`](crate::RateLimitLayer::fallback) builds one from the layer's store.
///
/// The memory store starts without state when the store fails, and its charges are not copied to the store when that recovers.
/// So over any window, `n` nodes admit what the limit allows, plus at most `n` times as much.
///
/// ```
/// # #[cfg(feature = "redis")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tollgate::StoreError> {
/// use tollgate::{Fallback, Key, Limiter, MemoryStore, Quota, RedisStore, SlidingLog};
///
/// let unreachable = RedisStore::connect("redis://127.0.0.1:1")?; // there is no Redis
/// let store = Fallback::new(unreachable, MemoryStore::new());
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
    /// A store, and the memory store to use while it fails.
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
                let for_memory = Some(charges.clone());
                let response = self.store.apply(Operation::Acquire(charges));
                FallbackStage::Pending { response, for_memory }
            }
            // The store that charged also refunds.
            Operation::Refund(receipt) if receipt.is_from_fallback() => {
                FallbackStage::decided(&memory, Operation::Refund(receipt))
            }
            Operation::Settle(receipt) if receipt.is_from_fallback() => {
                FallbackStage::decided(&memory, Operation::Settle(receipt))
            }
            Operation::Reset(charges) => {
                let Ok(_) = memory.apply(Operation::Reset(charges.clone())).into_inner();
                FallbackStage::pending(&self.store, Operation::Reset(charges))
            }
            operation => FallbackStage::pending(&self.store, operation),
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
    stage: FallbackStage<St>,
}

enum FallbackStage<St: Store> {
    Pending {
        response: St::Future,
        /// The charges for the memory store if the store fails.
        for_memory: Option<Charges>,
    },
    Decided(Option<Decision>),
}

impl<St: Store> FallbackStage<St> {
    fn pending(store: &St, operation: Operation) -> Self {
        let (response, for_memory) = (store.apply(operation), None);
        Self::Pending { response, for_memory }
    }

    fn decided(memory: &MemoryStore, operation: Operation) -> Self {
        let Ok(decision) = memory.apply(operation).into_inner();
        Self::Decided(Some(decision))
    }
}

impl<St: Store> Future for FallbackDecision<St> {
    type Output = Result<Decision, St::Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        match &mut this.stage {
            FallbackStage::Pending { response, for_memory } => {
                let result = ready!(Pin::new(response).poll(context));
                Poll::Ready(match (result, for_memory.take()) {
                    (Err(_), Some(charges)) => {
                        let Ok(decision) = this.memory.apply(Operation::Acquire(charges)).into_inner();
                        Ok(decision.by_fallback())
                    }
                    (result, _) => result,
                })
            }
            FallbackStage::Decided(decision) => {
                let decision = decision.take();
                Poll::Ready(Ok(decision.expect("polled after completion")))
            }
        }
    }
}

impl<St: Store> fmt::Debug for FallbackDecision<St> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FallbackDecision").finish_non_exhaustive()
    }
}
