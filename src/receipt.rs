//! Receipts: the right to refund or settle a charge once.

use smallvec::SmallVec;

use crate::{
    algorithm::Mark,
    charge::{Charge, Settling},
    limit::Limit,
    quota::{self, Cost},
};

/// The receipt of a request's charges, for one refund or settlement.
///
/// A [`Decision`](crate::Decision) that admits a request has one. A [`Refund`](crate::Operation::Refund) or a
/// [`Settle`](crate::Operation::Settle) consumes it, and it cannot be cloned.
///
/// ```
/// use tollgate::{Charge, Charges, Key, Limit, MemoryStore, Operation, Quota, Store, TokenBucket};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let store = MemoryStore::new();
/// # let store = MemoryStore::builder().clock(tollgate::ManualClock::at(0)).build(); // no time passes in this example
/// let requests = Limit::new("requests", TokenBucket::new(Quota::per_minute(100)));
/// let tokens = Limit::new("tokens", TokenBucket::new(Quota::per_minute(100_000)));
/// let mut charges = Charges::from(Charge::new(requests, Key::new("user:1")));
/// charges.push(Charge::new(tokens, Key::new("user:1")).with_cost(1000))?; // an estimate
///
/// let mut decision = store.apply(Operation::Acquire(charges)).await?;
/// let receipt = decision.take_receipt().expect("it was admitted");
/// let decision = store.apply(Operation::Settle(receipt.settled_for("tokens", 1500))).await?;
/// assert_eq!(decision.tiers()[0].verdict().remaining(), 99);
/// assert_eq!(decision.tiers()[1].verdict().remaining(), 98_500);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "dropping a receipt keeps its charge"]
pub struct Receipt {
    charged: SmallVec<[Charged; 1]>,
}

/// A charge of a [`Receipt`], and its position in the state.
#[derive(Debug)]
pub struct Charged {
    pub(crate) charge: Charge,
    pub(crate) mark: Mark,
    /// The true cost, if it has been set.
    to: Option<Cost>,
    /// Whether the fallback store made the charge.
    from_fallback: bool,
}

impl Charged {
    pub(crate) fn new(charge: Charge, mark: Mark, from_fallback: bool) -> Self {
        let to = None;
        Self {
            charge,
            mark,
            to,
            from_fallback,
        }
    }

    /// A refund of the whole charge.
    #[cfg(feature = "redis")]
    pub(crate) fn refund(charge: Charge, mark: Mark) -> Self {
        let charged = Self::new(charge, mark, false);
        Self { to: Some(0), ..charged }
    }

    fn is_of(&self, limit: &str) -> bool {
        self.charge.limit.name() == limit
    }

    /// The charge, with the cost that was charged.
    pub fn charge(&self) -> &Charge {
        &self.charge
    }

    /// The position of the charge in the state.
    pub fn mark(&self) -> Mark {
        self.mark
    }

    /// The cost to settle to: the true cost, or by default what was charged.
    pub fn to(&self) -> Cost {
        self.to.unwrap_or(self.charge.cost)
    }
}

impl Receipt {
    pub(crate) fn new(charged: impl IntoIterator<Item = Charged>) -> Option<Self> {
        let charged = SmallVec::from_iter(charged);
        (!charged.is_empty()).then_some(Self { charged })
    }

    /// A copy, of which only one is used. Receipts are not `Clone`, so that callers cannot refund a charge twice.
    pub(crate) fn copy(&self) -> Self {
        let charged = self.charged.iter().map(|charged| Charged {
            charge: charged.charge.clone(),
            ..*charged
        });
        let charged = charged.collect();
        Self { charged }
    }

    /// Splits off the charges that the fallback store made.
    pub(crate) fn take_fallback(&mut self) -> Option<Self> {
        self.take(|charged| charged.from_fallback)
    }

    /// The receipt of some of an operation's charges.
    #[cfg(feature = "redis")]
    pub(crate) fn from_charged(charged: Vec<Charged>) -> Self {
        let charged = charged.into();
        Self { charged }
    }

    pub(crate) fn into_charged(self) -> impl Iterator<Item = Charged> {
        self.charged.into_iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.charged.is_empty()
    }

    /// The charge, if there is exactly one.
    pub(crate) fn into_one(self) -> Result<Charged, Self> {
        let charged = self.charged.into_inner().map(|[charged]| charged);
        charged.map_err(|charged| Self { charged })
    }

    /// The receipt of a single charge.
    pub(crate) fn of_one(charged: Charged) -> Self {
        Self {
            charged: SmallVec::from_buf([charged]),
        }
    }

    /// The charges with their positions, for stores of your own.
    pub fn charged(&self) -> &[Charged] {
        &self.charged
    }

    /// The charges without their positions.
    pub(crate) fn into_charges(self) -> impl Iterator<Item = Charge> {
        self.charged.into_iter().map(|charged| charged.charge)
    }

    /// The costs that were charged, one per charged tier.
    pub fn costs(&self) -> impl Iterator<Item = (&Limit, Cost)> {
        self.charged
            .iter()
            .map(|charged| (&charged.charge.limit, charged.charge.cost))
    }

    /// Sets the true cost of the request, for every tier.
    pub fn settled(mut self, cost: u64) -> Self {
        let to = Some(quota::bounded(cost));
        self.charged.iter_mut().for_each(|charged| charged.to = to);
        self
    }

    /// Sets the true cost for the tiers of one limit, where tiers count different things.
    pub fn settled_for(mut self, limit: &str, cost: u64) -> Self {
        self.settle(limit, cost);
        self
    }

    /// Whether this limit was charged, and the response may settle it.
    pub(crate) fn may_settle(&self, limit: &str) -> bool {
        let mut charged = self.charged.iter();
        charged.any(|charged| charged.charge.settling != Settling::Never && charged.is_of(limit))
    }

    /// Sets the true cost for the tiers of one limit.
    pub(crate) fn settle(&mut self, limit: &str, cost: u64) {
        let to = Some(quota::bounded(cost));
        let charged = self.charged.iter_mut().filter(|charged| charged.is_of(limit));
        charged.for_each(|charged| charged.to = to);
    }

    /// Splits off the charges of one limit.
    pub(crate) fn take_limit(&mut self, limit: &str) -> Option<Self> {
        self.take(|charged| charged.is_of(limit))
    }

    fn take(&mut self, which: impl Fn(&Charged) -> bool) -> Option<Self> {
        let charged = std::mem::take(&mut self.charged).into_iter();
        let (taken, left): (Vec<_>, Vec<_>) = charged.partition(which);
        self.charged = left.into();
        Self::new(taken)
    }

    /// The charges whose true cost differs from what was charged.
    pub(crate) fn corrected(mut self) -> Option<Self> {
        self.charged.retain(|charged| charged.to() != charged.charge.cost);
        (!self.charged.is_empty()).then_some(self)
    }

    /// The same charges under the versions of their limits that are in force now.
    pub(crate) fn in_force(mut self) -> Self {
        self.charged
            .iter_mut()
            .for_each(|charged| charged.charge.limit.update());
        self
    }

    /// Replaces the limit of the charges with a newer version, if it was changed after the charge. A layer does so when its rules change.
    pub fn update(&mut self, limit: &Limit) {
        let limits = self.charged.iter_mut().map(|charged| &mut charged.charge.limit);
        limits.filter(|version| version.counts_as(limit)).for_each(|version| {
            version.update_to(limit);
        });
    }
}
