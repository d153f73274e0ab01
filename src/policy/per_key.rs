//! A tier: a limit, counted by a key.

use super::{Bill, Policy, sealed::Sealed};
use crate::{charge::Charge, extract::KeyExtractor, limit::Limit};

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

impl<K> Sealed for PerKey<K> {}

impl<Req, Res, K: KeyExtractor<Req>> Policy<Req, Res> for PerKey<K> {
    fn bill(&self, request: &Req, bill: &mut Bill) {
        match self.key.extract(request) {
            Ok(Some(key)) => bill.charge(Charge::new(self.limit.clone(), key)),
            Ok(None) => {}
            Err(error) => bill.cannot_charge(&self.limit, error),
        }
    }
}
