//! A tier: a limit and a key extractor.

use super::{Bill, Policy, policy::Sealed};
use crate::{charge::Charge, extract::KeyExtractor, limit::Limit};

/// Adds a charge of 1 under a limit, to the key of the request.
#[derive(Clone, Debug)]
pub struct PerKey<K> {
    limit: Limit,
    key: K,
}

impl<K> PerKey<K> {
    /// A tier of this limit and key extractor. The limits of a layer have distinct names.
    pub(crate) fn new(limit: Limit, key: K) -> Self {
        Self { limit, key }
    }
}

impl<K> Sealed for PerKey<K> {}

impl<Req, Res, K: KeyExtractor<Req>> Policy<Req, Res> for PerKey<K> {
    fn bill(&self, request: &Req, bill: &mut Bill) {
        match self.key.extract_optional(request) {
            Ok(Some(key)) => bill.charge(Charge::new(self.limit.clone(), key)),
            Ok(None) => {}
            Err(error) => bill.cannot_charge(&self.limit, error),
        }
    }
}
