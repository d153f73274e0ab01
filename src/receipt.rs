//! What it takes to give a charge back.

use smallvec::SmallVec;

use crate::{algorithm::Mark, charge::Charge, limit::Limit, quota::Cost};

/// Proof of what a request was charged, with which it can be given back or corrected, once.
///
/// A [`Decision`](crate::Decision) that admitted has one. A [`Refund`](crate::Operation::Refund) or a
/// [`Settle`](crate::Operation::Settle) consumes it, and it cannot be copied.
#[derive(Debug)]
#[must_use = "a receipt that is dropped leaves its charge where it is"]
pub struct Receipt(SmallVec<[Charged; 3]>);

/// A charge and where it left its trace.
#[derive(Debug)]
pub(crate) struct Charged {
    pub(crate) charge: Charge,
    pub(crate) mark: Mark,
}

impl Receipt {
    pub(crate) fn new(charged: impl IntoIterator<Item = Charged>) -> Option<Self> {
        let charged = SmallVec::from_iter(charged);
        if charged.is_empty() { None } else { Some(Self(charged)) }
    }

    pub(crate) fn charged(&self) -> &[Charged] {
        &self.0
    }

    /// What was charged, one cost per tier that took part.
    pub fn costs(&self) -> impl Iterator<Item = (&Limit, Cost)> {
        self.0
            .iter()
            .map(|charged| (&charged.charge.limit, charged.charge.cost))
    }

    /// Gives back under a newer version of a limit, where one was put in force since the charge.
    pub fn update(&mut self, limit: &Limit) {
        let limits = self.0.iter_mut().map(|charged| &mut charged.charge.limit);
        limits
            .filter(|version| version.counts_as(limit))
            .for_each(|version| version.follow(limit));
    }
}
