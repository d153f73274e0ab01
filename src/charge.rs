//! What a request is charged: a cost, to a key, under a limit.

use std::{error, fmt};

use smallvec::SmallVec;

use crate::{key::Key, limit::Limit, quota::Cost};

/// One tier of a request: what it costs, whom, under which limit.
///
/// ```
/// use tollgate::{Charge, Key, Limit, Quota, TokenBucket};
///
/// let limit = Limit::new("user", TokenBucket::new(Quota::per_minute(100)));
/// let charge = Charge::new(limit, Key::new("user:12345")).cost(5);
/// # let _ = charge;
/// ```
#[derive(Clone, Debug)]
pub struct Charge {
    pub(crate) limit: Limit,
    pub(crate) key: Key,
    pub(crate) cost: Cost,
    pub(crate) shadow: bool,
    pub(crate) listed: bool,
    /// Whether it may yet be corrected, or given back, by what comes of the request.
    pub(crate) provisional: bool,
}

impl Charge {
    /// A charge of 1.
    pub fn new(limit: Limit, key: Key) -> Self {
        Self {
            limit,
            key,
            cost: 1,
            shadow: false,
            listed: true,
            provisional: false,
        }
    }

    /// What it costs. 0 asks without spending.
    #[must_use]
    pub fn cost(self, cost: Cost) -> Self {
        Self { cost, ..self }
    }

    /// Evaluated and reported, but never a reason to refuse or to delay.
    #[must_use]
    pub fn shadow(self) -> Self {
        Self { shadow: true, ..self }
    }

    /// Not told to clients: its limit counts and refuses as ever, but what is left of it stays in the house.
    #[must_use]
    pub fn unlisted(self) -> Self {
        Self { listed: false, ..self }
    }

    /// Whether both are charged to one key under one limit.
    pub(crate) fn counts_as(&self, other: &Self) -> bool {
        self.key == other.key && self.limit.counts_as(&other.limit)
    }
}

/// The charges of one request, which are taken all or none.
///
/// ```
/// use tollgate::{Charge, Charges, Key, Limit, Quota, TokenBucket};
///
/// let limit = Limit::new("user", TokenBucket::new(Quota::per_minute(100)));
/// let charge = Charge::new(limit, Key::new("user:12345"));
/// let mut charges = Charges::from(charge.clone());
/// assert!(charges.push(charge).is_err()); // a key is charged once in a request
/// ```
#[derive(Clone, Debug, Default)]
pub struct Charges(SmallVec<[Charge; 1]>);

impl Charges {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tier, unless its key is charged already under the same limit.
    pub fn push(&mut self, charge: Charge) -> Result<(), DuplicateKey> {
        if self.0.iter().any(|other| other.counts_as(&charge)) {
            let Charge { limit, key, .. } = charge;
            return Err(DuplicateKey { limit, key });
        }
        self.0.push(charge);
        Ok(())
    }

    /// Some of those that there were, which have been told apart before.
    pub(crate) fn apart(charges: impl IntoIterator<Item = Charge>) -> Self {
        Self(charges.into_iter().collect())
    }

    /// Makes each of them cost this. 0 asks without spending.
    #[must_use]
    pub fn cost(mut self, cost: Cost) -> Self {
        self.0.iter_mut().for_each(|charge| charge.cost = cost);
        self
    }

    /// How many tiers there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none, so that nothing is asked and nothing can refuse.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The charge under the limit of this name, where there is one, to be changed before it is taken.
    pub(crate) fn named_mut(&mut self, name: &str) -> Option<&mut Charge> {
        self.0.iter_mut().find(|charge| charge.limit.name() == name)
    }

    /// Whether one of them may have to wait for its turn.
    pub(crate) fn queue(&self) -> bool {
        self.0.iter().any(|charge| charge.limit.rule().queues())
    }

    /// Whether one of them asks for more than its limit ever holds, so that there is nothing to wait for.
    pub(crate) fn can_never_pass(&self) -> bool {
        let mut binding = self.0.iter().filter(|charge| !charge.shadow);
        binding.any(|charge| charge.cost > charge.limit.rule().capacity())
    }

    /// The only one, where there is only one.
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

impl From<Charge> for Charges {
    fn from(charge: Charge) -> Self {
        Self(SmallVec::from_iter([charge]))
    }
}

/// A request would charge one key twice under one limit, which has no all or none.
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
