//! What it takes to give a charge back.

use smallvec::SmallVec;

use crate::{
    algorithm::Mark,
    charge::Charge,
    limit::Limit,
    quota::{self, Cost},
};

/// Proof of what a request was charged, with which it can be given back or corrected, once.
///
/// A [`Decision`](crate::Decision) that admitted has one. A [`Refund`](crate::Operation::Refund) or a
/// [`Settle`](crate::Operation::Settle) consumes it, and it cannot be copied.
///
/// ```
/// use tollgate::{Charge, Charges, Key, Limit, MemoryStore, Operation, Quota, Store, TokenBucket};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let store = MemoryStore::new();
/// let requests = Limit::new("requests", TokenBucket::new(Quota::per_minute(100)));
/// let tokens = Limit::new("tokens", TokenBucket::new(Quota::per_minute(100_000)));
/// let mut charges = Charges::from(Charge::new(requests, Key::new("user:1")));
/// charges.push(Charge::new(tokens, Key::new("user:1")).cost(1000))?; // an estimate
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
#[must_use = "a receipt that is dropped leaves its charge where it is"]
pub struct Receipt {
    charged: SmallVec<[Charged; 1]>,
    /// Whether a fallback charged it, and not the store that it stood in for.
    from_fallback: bool,
}

/// A charge and where it left its trace.
#[derive(Debug)]
pub(crate) struct Charged {
    pub(crate) charge: Charge,
    pub(crate) mark: Mark,
    /// What it is to be corrected to, if somebody has said.
    to: Option<Cost>,
}

impl Charged {
    pub(crate) fn new(charge: Charge, mark: Mark) -> Self {
        let to = None;
        Self { charge, mark, to }
    }

    fn is_under(&self, limit: &str) -> bool {
        self.charge.limit.name() == limit
    }

    /// What it is to be corrected to: what was charged, unless somebody knows better.
    pub(crate) fn to(&self) -> Cost {
        self.to.unwrap_or(self.charge.cost)
    }
}

impl Receipt {
    pub(crate) fn new(charged: impl IntoIterator<Item = Charged>, from_fallback: bool) -> Option<Self> {
        let charged = SmallVec::from_iter(charged);
        (!charged.is_empty()).then_some(Self { charged, from_fallback })
    }

    pub(crate) fn is_from_fallback(&self) -> bool {
        self.from_fallback
    }

    /// A part of one.
    #[cfg(feature = "redis")]
    pub(crate) fn apart(charged: Vec<Charged>) -> Self {
        let (charged, from_fallback) = (charged.into(), false);
        Self { charged, from_fallback }
    }

    pub(crate) fn into_charged(self) -> impl Iterator<Item = Charged> {
        self.charged.into_iter()
    }

    pub(crate) fn charged(&self) -> &[Charged] {
        &self.charged
    }

    /// The charges alone, once they have been given back or corrected.
    pub(crate) fn into_charges(self) -> impl Iterator<Item = Charge> {
        self.charged.into_iter().map(|charged| charged.charge)
    }

    /// What was charged, one cost per tier that took part.
    pub fn costs(&self) -> impl Iterator<Item = (&Limit, Cost)> {
        self.charged
            .iter()
            .map(|charged| (&charged.charge.limit, charged.charge.cost))
    }

    /// With the true cost of the request, for every tier.
    pub fn settled(mut self, cost: u64) -> Self {
        let to = Some(quota::bounded(cost));
        self.charged.iter_mut().for_each(|charged| charged.to = to);
        self
    }

    /// With the true cost of the request for the tiers of this limit, where tiers count different things.
    pub fn settled_for(mut self, limit: &str, cost: u64) -> Self {
        self.settle_for(limit, cost);
        self
    }

    pub(crate) fn settle_for(&mut self, limit: &str, cost: u64) {
        let to = Some(quota::bounded(cost));
        let tiers = self.charged.iter_mut().filter(|charged| charged.is_under(limit));
        tiers.for_each(|charged| charged.to = to);
    }

    /// The part of the tiers of this limit, which this receipt is then no longer about, unless they have been settled.
    pub(crate) fn take_unsettled(&mut self, limit: &str) -> Option<Self> {
        let charged = std::mem::take(&mut self.charged).into_iter();
        let unsettled = |charged: &Charged| charged.is_under(limit) && charged.to.is_none();
        let (taken, left): (Vec<_>, _) = charged.partition(unsettled);
        self.charged = left.into();
        Self::new(taken, self.from_fallback)
    }

    /// The part that has been told another cost than what was charged.
    pub(crate) fn corrected(mut self) -> Option<Self> {
        self.charged.retain(|charged| charged.to() != charged.charge.cost);
        (!self.charged.is_empty()).then_some(self)
    }

    /// Gives back under a newer version of a limit, where one was put in force since the charge.
    pub fn update(&mut self, limit: &Limit) {
        let limits = self.charged.iter_mut().map(|charged| &mut charged.charge.limit);
        limits.filter(|version| version.counts_as(limit)).for_each(|version| {
            version.follow(limit);
        });
    }
}
