//! What a store is asked to do, as data.

use crate::{
    charge::{Charge, Charges},
    receipt::Receipt,
};

/// What a store is asked to do, in one atomic step.
///
/// Being data, a new operation needs no new trait, and several can travel together. A [`Limiter`](crate::Limiter) has a
/// method for each.
///
/// ```
/// use tollgate::{Charge, Key, Limit, MemoryStore, Operation, Quota, SlidingCounter, Store};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let store = MemoryStore::new();
/// let limit = Limit::new("exports", SlidingCounter::new(Quota::per_hour(10)));
/// let charge = Charge::new(limit, Key::named("user", 1)).cost(4);
///
/// let Ok(mut decision) = store.apply(Operation::Acquire(charge.clone().into())).await;
/// assert_eq!(decision.tiers()[0].verdict().remaining(), 6);
/// let receipt = decision.take_receipt().expect("it was admitted");
/// let Ok(decision) = store.apply(Operation::Settle(receipt.settled(1))).await; // it was a small one
/// assert_eq!(decision.tiers()[0].verdict().remaining(), 9);
/// let Ok(decision) = store.apply(Operation::Reset(charge.into())).await;
/// assert_eq!(decision.tiers()[0].verdict().remaining(), 10);
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Operation {
    /// Take these charges, all or none.
    Acquire(Charges),
    /// Give back what still counts of a charge.
    Refund(Receipt),
    /// Correct a charge to the true costs that its receipt has been told: what was too much is given back, what was
    /// too little is charged whatever is left.
    Settle(Receipt),
    /// Forget these keys, as if nothing had ever been charged. Costs do not matter.
    Reset(Charges),
}

impl Operation {
    /// What is left where one has been taken from.
    #[cfg(feature = "redis")]
    pub(crate) fn nothing() -> Self {
        Self::Acquire(Charges::new())
    }

    /// The charges it is about, in order.
    pub(crate) fn charges(&self) -> impl Iterator<Item = &Charge> {
        let (charges, charged) = match self {
            Self::Acquire(charges) | Self::Reset(charges) => (charges.as_slice(), &[][..]),
            Self::Refund(receipt) | Self::Settle(receipt) => (&[][..], receipt.charged()),
        };
        charges.iter().chain(charged.iter().map(|charged| &charged.charge))
    }

    /// The same, for whoever tells what came of them.
    #[cfg(feature = "redis")]
    pub(crate) fn into_charges(self) -> impl Iterator<Item = Charge> {
        let (charges, charged) = match self {
            Self::Acquire(charges) | Self::Reset(charges) => (Some(charges.into_each()), None),
            Self::Refund(receipt) | Self::Settle(receipt) => (None, Some(receipt.into_charges())),
        };
        charges.into_iter().flatten().chain(charged.into_iter().flatten())
    }
}
