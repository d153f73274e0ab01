//! Descriptors: what a proxy sends to a rate limit service about a request.

use smallvec::SmallVec;

use crate::{key::Key, quota::Cost};

/// What a proxy wants to be counted for one request, as in Envoy's rate limit API: descriptors in a domain.
///
/// A [`RulesLayer`](crate::RulesLayer) limits a service of such requests by the rules with a `domain` and a `descriptor`.
///
/// ```
/// use tollgate::{RuleSet, rules::{Descriptor, DescriptorRequest}};
///
/// let rules = RuleSet::parse(r#"
///     [[limit]]
///     name = "tenant"
///     algorithm = "token_bucket"
///     limit = 100
///     window = "1m"
///     domain = "edge"
///     descriptor = ["tenant"]
/// "#)?;
/// let descriptor = Descriptor::new([("tenant", "acme")]);
/// let charges = rules.descriptor_charges(&DescriptorRequest::new("edge", [descriptor.clone()]));
/// let charge = charges.iter().next().unwrap();
/// assert_eq!((charge.limit().name(), charge.key()), ("tenant", &descriptor.key()));
/// # Ok::<(), tollgate::RulesError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DescriptorRequest {
    domain: String,
    descriptors: Vec<Descriptor>,
}

/// A list of keys with their values, like `tenant=acme, path=/search`, and what the request costs its limits.
#[derive(Clone, Debug)]
pub struct Descriptor {
    entries: SmallVec<[(String, String); 2]>,
    cost: Cost,
}

impl DescriptorRequest {
    /// A request with these descriptors. The limits of all of them are charged all or none; of a descriptor that occurs several
    /// times, the costs are added.
    pub fn new(domain: impl Into<String>, descriptors: impl IntoIterator<Item = Descriptor>) -> Self {
        Self {
            domain: domain.into(),
            descriptors: descriptors.into_iter().collect(),
        }
    }

    /// The domain, which separates the limits of different proxies or teams.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// The descriptors.
    pub fn descriptors(&self) -> &[Descriptor] {
        &self.descriptors
    }
}

impl Descriptor {
    /// A descriptor with these keys and values, in their order, and a cost of 1.
    pub fn new<K: Into<String>, V: Into<String>>(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        let entries = entries.into_iter().map(|(key, value)| (key.into(), value.into()));
        Self {
            entries: entries.collect(),
            cost: 1,
        }
    }

    /// Sets the cost. A cost of 0 is decided, but charges nothing.
    #[must_use]
    pub fn with_cost(self, cost: Cost) -> Self {
        Self { cost, ..self }
    }

    /// The keys and values.
    pub fn entries(&self) -> &[(String, String)] {
        &self.entries
    }

    /// The cost.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// The key that its limits count it by: `tenant:acme`. Different descriptors have different keys.
    pub fn key(&self) -> Key {
        let entries = self.entries.iter();
        key_of(entries.map(|(key, value)| (key.as_str(), value.as_str())))
    }
}

/// The key of a descriptor with these entries.
pub(super) fn key_of<'e>(entries: impl Iterator<Item = (&'e str, &'e str)>) -> Key {
    let keys: SmallVec<[Key; 4]> = entries.map(|(key, value)| Key::named(key, value)).collect();
    match &*keys {
        [key] => key.clone(),
        keys => Key::joined(keys),
    }
}
