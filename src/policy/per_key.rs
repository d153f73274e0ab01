//! A tier: a limit, counted by a key.

use super::Policy;
use crate::{
    charge::{Charge, Charges},
    extract::{KeyError, KeyExtractor},
    limit::Limit,
};

/// Adds a charge of 1 under a limit, to the key of the request.
#[derive(Clone, Debug)]
pub struct PerKey<K> {
    limit: Limit,
    key: K,
}

impl<K> PerKey<K> {
    /// A tier of this limit, counted by this key. The names of a layer's limits differ.
    pub(crate) fn new(limit: Limit, key: K) -> Self {
        Self { limit, key }
    }
}

impl<Req, K: KeyExtractor<Req>> Policy<Req> for PerKey<K> {
    fn charges(&self, request: &Req, charges: &mut Charges) -> Result<(), KeyError> {
        if let Some(key) = self.key.extract(request)? {
            let charge = Charge::new(self.limit.clone(), key);
            let pushed = charges.push(charge);
            debug_assert!(pushed.is_ok(), "limits of different names never share a key");
        }
        Ok(())
    }
}
