//! The operations of a store, as data.

use crate::{
    charge::{Charge, Charges},
    receipt::Receipt,
};

/// An operation that a store applies in one atomic step.
///
/// Operations are data, so a new one needs no new trait method, and a store can batch several. A [`Limiter`](crate::Limiter)
/// has a method for each.
///
/// ```
/// use tollgate::{Charge, Key, Limit, MemoryStore, Operation, Quota, SlidingCounter, Store};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let store = MemoryStore::new();
/// # let store = MemoryStore::builder().clock(tollgate::ManualClock::at(0)).build(); // no time passes in this example
/// let limit = Limit::new("exports", SlidingCounter::new(Quota::per_hour(10)));
/// let charge = Charge::new(limit, Key::named("user", 1)).with_cost(4);
///
/// let Ok(decision) = store.apply(Operation::Peek(charge.clone().with_cost(11).into())).await;
/// assert_eq!(decision.outcome(), tollgate::Outcome::Impossible);
/// let Ok(mut decision) = store.apply(Operation::Acquire(charge.clone().into())).await;
/// assert_eq!(decision.tiers()[0].verdict().remaining(), 6);
/// let receipt = decision.take_receipt().expect("it was admitted");
/// let Ok(decision) = store.apply(Operation::Settle(receipt.settled(1))).await; // the export was small
/// assert_eq!(decision.tiers()[0].verdict().remaining(), 9);
/// let Ok(decision) = store.apply(Operation::Reset(charge.into())).await;
/// assert_eq!(decision.tiers()[0].verdict().remaining(), 10);
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Operation {
    /// Applies these charges, all or none.
    Acquire(Charges),
    /// Returns the decision that an acquire of these charges would return, without charging. The decision has no receipt.
    Peek(Charges),
    /// Refunds what still counts of a charge.
    Refund(Receipt),
    /// Corrects a charge to the true costs of its receipt: a surplus is refunded, and a deficit is charged even if the limit
    /// is exhausted.
    Settle(Receipt),
    /// Resets these keys to the fresh state. Costs are ignored.
    Reset(Charges),
}

impl Operation {
    /// A refund under the limits that are in force now.
    pub(crate) fn refund(receipt: Receipt) -> Self {
        Self::Refund(receipt.in_force())
    }

    /// A settlement under the limits that are in force now.
    pub(crate) fn settle(receipt: Receipt) -> Self {
        Self::Settle(receipt.in_force())
    }

    /// An operation without charges, to leave in place of one that is moved out.
    #[cfg(feature = "redis")]
    pub(crate) fn nothing() -> Self {
        Self::Acquire(Charges::new())
    }

    /// A copy, of which only one is applied: a receipt is used once.
    pub(crate) fn copy(&self) -> Self {
        match self {
            Self::Acquire(charges) => Self::Acquire(charges.clone()),
            Self::Peek(charges) => Self::Peek(charges.clone()),
            Self::Refund(receipt) => Self::Refund(receipt.copy()),
            Self::Settle(receipt) => Self::Settle(receipt.copy()),
            Self::Reset(charges) => Self::Reset(charges.clone()),
        }
    }

    /// Whether it may lower the usage of a key, so that an earlier denial no longer applies. Denials of concurrency limits apply to one
    /// request only.
    #[cfg(feature = "redis")]
    pub(crate) fn may_refund(&self) -> bool {
        match self {
            Self::Acquire(_) | Self::Peek(_) => false,
            Self::Refund(receipt) | Self::Settle(receipt) => {
                receipt.charged().iter().any(|charged| !charged.charge.holds_slots())
            }
            Self::Reset(_) => true,
        }
    }

    /// Its charges, in order.
    pub fn charges(&self) -> impl Iterator<Item = &Charge> {
        let (charges, charged) = match self {
            Self::Acquire(charges) | Self::Peek(charges) | Self::Reset(charges) => (charges.as_slice(), &[][..]),
            Self::Refund(receipt) | Self::Settle(receipt) => (&[][..], receipt.charged()),
        };
        charges.iter().chain(charged.iter().map(|charged| &charged.charge))
    }

    /// Its charges, in order, by value.
    #[cfg(feature = "redis")]
    pub(crate) fn into_charges(self) -> impl Iterator<Item = Charge> {
        let (charges, charged) = match self {
            Self::Acquire(charges) | Self::Peek(charges) | Self::Reset(charges) => (Some(charges.into_each()), None),
            Self::Refund(receipt) | Self::Settle(receipt) => (None, Some(receipt.into_charges())),
        };
        charges.into_iter().flatten().chain(charged.into_iter().flatten())
    }
}
