//! Charges: what a request costs, by key and limit.

use std::{error, fmt, slice};

use smallvec::SmallVec;

use crate::{key::Key, limit::Limit, quota::Cost};

/// The charge of one tier: a cost, counted for a key under a limit.
///
/// ```
/// use tollgate::{Charge, Key, Limit, Quota, TokenBucket};
///
/// let limit = Limit::new("user", TokenBucket::new(Quota::per_minute(100)));
/// let charge = Charge::new(limit, Key::new("user:12345")).with_cost(5);
/// assert_eq!(charge.cost(), 5);
/// ```
#[derive(Clone, Debug)]
pub struct Charge {
    pub(crate) limit: Limit,
    pub(crate) key: Key,
    pub(crate) cost: Cost,
    pub(crate) shadow: bool,
    pub(crate) hidden: bool,
    pub(crate) settling: Settling,
    /// Whether the other charges decide alone if the store fails for this one. A shadow never fails a request.
    pub(crate) fails_open: bool,
}

/// Whether the response may settle a charge. A charge is moved often, so this takes one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settling {
    Never,
    ByResponse,
    /// By what is read in its body.
    ByBody,
}

impl Settling {
    pub(crate) fn by(response: bool, body: bool) -> Self {
        match (response, body) {
            (false, _) => Self::Never,
            (true, false) => Self::ByResponse,
            (true, true) => Self::ByBody,
        }
    }
}

impl Charge {
    /// A charge of 1.
    pub fn new(limit: Limit, key: Key) -> Self {
        Self {
            limit,
            key,
            cost: 1,
            shadow: false,
            hidden: false,
            settling: Settling::Never,
            fails_open: false,
        }
    }

    /// Sets the cost, 1 by default. A cost of 0 is decided, but charges nothing.
    #[must_use]
    pub fn with_cost(self, cost: Cost) -> Self {
        Self { cost, ..self }
    }

    /// Makes it a shadow: it is evaluated and reported, but neither denies nor delays.
    #[must_use]
    pub fn shadow(self) -> Self {
        Self { shadow: true, ..self }
    }

    /// Hides it from clients: its limit still counts and denies, but no header or body reports it.
    #[must_use]
    pub fn hidden(self) -> Self {
        Self { hidden: true, ..self }
    }

    /// The limit.
    pub fn limit(&self) -> &Limit {
        &self.limit
    }

    /// The key.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The cost.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Whether it is a shadow, which neither denies nor delays.
    pub fn is_shadow(&self) -> bool {
        self.shadow
    }

    /// Whether it is hidden from clients.
    pub fn is_hidden(&self) -> bool {
        self.hidden
    }

    /// Whether the request fails if the store fails for this charge, although it decides about others.
    #[cfg(feature = "redis")]
    pub(crate) fn is_required(&self) -> bool {
        !self.shadow && !self.fails_open
    }

    /// Whether it takes slots of a concurrency limit, which have to be released.
    pub(crate) fn holds_slots(&self) -> bool {
        self.limit.algorithm().is_concurrency()
    }

    /// Whether both charge the same key under the same version of a limit.
    pub(crate) fn has_same_limit(&self, other: &Self) -> bool {
        self.key == other.key && self.limit == other.limit
    }

    /// Whether both charge the same key under the same limit.
    pub(crate) fn counts_as(&self, other: &Self) -> bool {
        self.limit.counts_as(&other.limit) && self.key == other.key
    }
}

/// The charges of one request, applied all or none.
///
/// ```
/// use tollgate::{Charge, Charges, Key, Limit, Quota, TokenBucket};
///
/// let limit = Limit::new("user", TokenBucket::new(Quota::per_minute(100)));
/// let charge = Charge::new(limit, Key::new("user:12345"));
/// let mut charges = Charges::from(charge.clone());
/// assert!(charges.push(charge).is_err()); // a request charges a key once
/// ```
#[derive(Clone, Debug, Default)]
pub struct Charges(SmallVec<[Charge; 1]>);

impl Charges {
    /// No charges.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a charge, or returns an error if its key is already charged under the same limit.
    #[inline]
    pub fn push(&mut self, charge: Charge) -> Result<(), DuplicateKey> {
        if self.0.iter().any(|other| other.counts_as(&charge)) {
            let Charge { limit, key, .. } = charge;
            return Err(DuplicateKey { limit, key });
        }
        self.push_distinct(charge);
        Ok(())
    }

    /// Adds a charge that is known to be distinct from the others.
    #[inline]
    pub(crate) fn push_distinct(&mut self, charge: Charge) {
        if self.0.len() == 1 {
            self.0.reserve(3); // one allocation for the tiers that most requests have, if they have several
        }
        self.0.push(charge);
    }

    /// Adds a charge, or adds its cost to that of its key under the same limit.
    #[cfg(feature = "rules")]
    pub(crate) fn push_or_add(&mut self, charge: Charge) {
        match self.0.iter_mut().find(|other| other.counts_as(&charge)) {
            Some(other) => other.cost = other.cost.saturating_add(charge.cost),
            None => self.push_distinct(charge),
        }
    }

    /// Charges that are known to be distinct.
    pub(crate) fn from_distinct(charges: impl IntoIterator<Item = Charge>) -> Self {
        Self(charges.into_iter().collect())
    }

    /// Sets the cost of every charge. A cost of 0 is decided, but charges nothing.
    #[must_use]
    pub fn with_cost(mut self, cost: Cost) -> Self {
        self.0.iter_mut().for_each(|charge| charge.cost = cost);
        self
    }

    /// The charges, in the order in which they were added.
    pub fn iter(&self) -> slice::Iter<'_, Charge> {
        self.0.iter()
    }

    /// The number of charges.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no charges, so that no limit applies.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets whether the others decide alone if the store fails for some of the charges.
    pub(crate) fn set_fails_open(&mut self, fails_open: bool) {
        self.0.iter_mut().for_each(|charge| charge.fails_open = fails_open);
    }

    /// Whether a queueing leaky bucket may delay the request. A shadow delays none.
    #[inline]
    pub(crate) fn may_queue(&self) -> bool {
        let may_queue = |charge: &Charge| charge.limit.algorithm().is_queueing() && !charge.shadow;
        self.0.iter().any(may_queue)
    }

    /// Whether the request may hold slots, which have to be released.
    #[inline]
    pub(crate) fn may_hold(&self) -> bool {
        self.0.iter().any(Charge::holds_slots)
    }

    /// Whether a cost exceeds the capacity of its limit, so that the request can never pass.
    pub(crate) fn exceed_capacity(&self) -> bool {
        let mut binding = self.0.iter().filter(|charge| !charge.shadow);
        binding.any(|charge| charge.cost > charge.limit.algorithm().capacity())
    }

    /// The charge, if there is exactly one.
    #[inline]
    pub(crate) fn into_one(self) -> Result<Charge, Self> {
        self.0.into_inner().map(|[charge]| charge).map_err(Self)
    }

    pub(crate) fn as_slice(&self) -> &[Charge] {
        &self.0
    }

    pub(crate) fn into_each(self) -> impl Iterator<Item = Charge> {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Charges {
    type Item = &'a Charge;
    type IntoIter = slice::Iter<'a, Charge>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<Charge> for Charges {
    fn from(charge: Charge) -> Self {
        Self(SmallVec::from_buf([charge]))
    }
}

/// A request would charge one key twice under one limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateKey {
    limit: Limit,
    key: Key,
}

impl fmt::Display for DuplicateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, key } = self;
        write!(
            f,
            "the key {key} is charged twice under the limit {limit}: add the costs up, or name the limits apart"
        )
    }
}

impl error::Error for DuplicateKey {}
