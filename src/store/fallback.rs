//! A store with a memory store to fall back on.

use std::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::{
    runtime::Handle,
    time::{Sleep, sleep_until},
};

use super::{MemoryStore, Store};
use crate::{
    cancellation::PendingSettle,
    charge::Charges,
    clock::Clock,
    decision::{Decision, UncheckedTiers},
    operation::Operation,
    receipt::Receipt,
};

/// A store with a memory store that decides while the first one fails: each node then applies the same limits on its own.
/// [`RateLimitLayer::fallback`](crate::RateLimitLayer::fallback) builds one from the layer's store.
///
/// The memory store starts without state when the store fails, and its charges are not copied to the store when that recovers.
/// So over any window, `n` nodes admit what the limit allows, plus at most `n` times as much.
///
/// If the store fails for some limits of a request only, as a cluster does while one of its nodes is down, the memory store decides
/// about these and the store about the others, all or none: if the memory store denies, the charges of the store are refunded.
///
/// ```
/// # #[cfg(feature = "redis")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tollgate::StoreError> {
/// use tollgate::{Fallback, Key, Limiter, MemoryStore, Quota, RedisStore};
///
/// let unreachable = RedisStore::connect("redis://127.0.0.1:1")?; // there is no Redis
/// let store = Fallback::new(unreachable, MemoryStore::new());
/// let limiter = Limiter::sliding_log("daily", Quota::per_day(1), store);
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

impl<St: Store> Fallback<St> {
    fn acquire(&self, mut charges: Charges) -> FallbackStage<St> {
        let order = charges.clone();
        // Memory decides about the charges that the store fails for.
        charges.set_fails_open(true);
        let refund_to = (charges.len() > 1).then(|| self.store.clone());
        FallbackStage::Pending {
            response: self.store.apply(Operation::Acquire(charges)),
            next: Next::AskMemory { order, refund_to },
        }
    }

    /// Refunds or settles each charge in the store that made it.
    fn correct(&self, mut receipt: Receipt, operation: fn(Receipt) -> Operation) -> FallbackStage<St> {
        let order = receipt.charged().iter().map(|charged| charged.charge.clone());
        let order = Charges::from_distinct(order);
        let Some(of_memory) = receipt.take_fallback() else {
            return FallbackStage::pending(&self.store, operation(receipt));
        };
        let by_memory = apply_to(&self.memory, operation(of_memory));
        if receipt.is_empty() {
            return FallbackStage::Decided(Some(by_memory.by_fallback()));
        }
        FallbackStage::Pending {
            response: self.store.apply(operation(receipt)),
            next: Next::Merge { order, by_memory },
        }
    }
}

impl<St: Store> Store for Fallback<St> {
    type Error = St::Error;
    type Future = FallbackDecision<St>;

    fn apply(&self, operation: Operation) -> Self::Future {
        let memory = self.memory.clone();
        let stage = match operation {
            Operation::Acquire(charges) => self.acquire(charges),
            Operation::Peek(charges) => FallbackStage::Pending {
                response: self.store.apply(Operation::Peek(charges.clone())),
                next: Next::PeekMemory(charges),
            },
            Operation::Refund(receipt) => self.correct(receipt, Operation::Refund),
            Operation::Settle(receipt) => self.correct(receipt, Operation::Settle),
            Operation::Reset(charges) => {
                apply_to(&memory, Operation::Reset(charges.clone()));
                FallbackStage::pending(&self.store, Operation::Reset(charges))
            }
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

/// The store in it is never pinned.
impl<St: Store> Unpin for FallbackDecision<St> {}

enum FallbackStage<St: Store> {
    Pending {
        response: St::Future,
        next: Next<St>,
    },
    /// Memory denied a part of a request that the store had charged. Boxed: only such requests pay for it.
    Refunding(Box<Refunding<St>>),
    Decided(Option<Decision>),
}

/// What follows the store's response.
enum Next<St> {
    Return,
    /// Asks memory about the charges that the store failed for.
    AskMemory {
        order: Charges,
        /// Where to refund if memory denies; `None` if the store decides about all charges or none.
        refund_to: Option<St>,
    },
    /// Peeks at memory if the store fails.
    PeekMemory(Charges),
    /// Merges the response with memory's decision about other tiers.
    Merge {
        order: Charges,
        by_memory: Decision,
    },
}

/// A denial that waits for the refund of what the store has charged, until the deadline of the request.
struct Refunding<St: Store> {
    denial: Option<Decision>,
    refund: PendingSettle<St>,
    /// `None` on a thread without a runtime, which cannot wait.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<St: Store> FallbackStage<St> {
    fn pending(store: &St, operation: Operation) -> Self {
        let (response, next) = (store.apply(operation), Next::Return);
        Self::Pending { response, next }
    }
}

fn apply_to(memory: &MemoryStore, operation: Operation) -> Decision {
    let Ok(decision) = memory.apply(operation).into_inner();
    decision
}

impl<St: Store> Refunding<St> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Decision> {
        let deadline = self.deadline.as_mut();
        let is_late = deadline.is_none_or(|deadline| deadline.as_mut().poll(context).is_ready());
        let refunded = match self.refund.poll(context) {
            Poll::Ready(refunded) => refunded,
            Poll::Pending if is_late => None,
            Poll::Pending => return Poll::Pending,
        };
        let mut denial = self.denial.take().expect(POLLED_AFTER_COMPLETION);
        refunded.iter().for_each(|refunded| denial.take_over_verdicts(refunded));
        Poll::Ready(denial)
    }
}

impl<St: Store> FallbackDecision<St> {
    /// Asks memory about the charges that the store failed for. If it denies, what the store has charged is refunded first.
    fn ask_memory(
        &self,
        mut decision: Decision,
        order: &Charges,
        refund_to: Option<St>,
    ) -> Result<Decision, Box<Refunding<St>>> {
        if !decision.admits() {
            return Ok(decision);
        }
        let Some(UncheckedTiers { charges, deadline, .. }) = decision.take_unchecked_tiers() else {
            return Ok(decision);
        };
        let by_memory = apply_to(&self.memory, Operation::Acquire(charges));
        let receipt = match by_memory.admits() {
            true => None,
            false => decision.take_receipt(),
        };
        let decision = decision.with_fallback_tiers(by_memory, order);
        match receipt.zip(refund_to) {
            None => Ok(decision),
            Some((receipt, store)) => Err(Box::new(Refunding {
                denial: Some(decision),
                refund: PendingSettle::refund(&store, receipt),
                deadline: Handle::try_current().ok().map(|_| Box::pin(sleep_until(deadline))),
            })),
        }
    }
}

impl<St: Store> Future for FallbackDecision<St> {
    type Output = Result<Decision, St::Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        loop {
            let (result, next) = match &mut this.stage {
                FallbackStage::Pending { response, next } => {
                    let result = ready!(Pin::new(response).poll(context));
                    (result, mem::replace(next, Next::Return))
                }
                FallbackStage::Refunding(refunding) => return refunding.poll(context).map(Ok),
                FallbackStage::Decided(decision) => {
                    return Poll::Ready(Ok(decision.take().expect(POLLED_AFTER_COMPLETION)));
                }
            };
            let decided = match (result, next) {
                (Err(_), Next::AskMemory { order, .. }) => {
                    Ok(apply_to(&this.memory, Operation::Acquire(order)).by_fallback())
                }
                (Err(_), Next::PeekMemory(charges)) => {
                    Ok(apply_to(&this.memory, Operation::Peek(charges)).by_fallback())
                }
                (Ok(decision), Next::AskMemory { order, refund_to }) => {
                    match this.ask_memory(decision, &order, refund_to) {
                        Ok(decision) => Ok(decision),
                        Err(refunding) => {
                            this.stage = FallbackStage::Refunding(refunding);
                            continue;
                        }
                    }
                }
                (Ok(decision), Next::Merge { order, by_memory }) => Ok(decision.with_fallback_tiers(by_memory, &order)),
                (result, _) => result,
            };
            return Poll::Ready(decided);
        }
    }
}

const POLLED_AFTER_COMPLETION: &str = "polled after completion";

impl<St: Store> fmt::Debug for FallbackDecision<St> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FallbackDecision").finish_non_exhaustive()
    }
}
