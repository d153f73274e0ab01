//! Policies whose types do not depend on closures.

use std::{fmt, sync::Arc};

use super::{
    charge_builder::ChargeBuilder,
    options::TierOptions,
    policy::{Policy, Sealed},
    settlement::{Settlement, TierSettlement},
    tier::Tier,
};
use crate::{
    algorithm::{Algorithm, AnyAlgorithm},
    charge::Charge,
    extract::{BoxKeyExtractor, KeyExtractor},
};

/// Any [options of a tier](TierOptions).
pub struct BoxTierOptions<Req, Res>(Arc<dyn TierOptions<Req, Res> + Send + Sync>);

/// Any [policy](Policy).
pub struct BoxPolicy<Req, Res>(Arc<dyn Policy<Req, Res> + Send + Sync>);

impl<Req, Res> BoxPolicy<Req, Res> {
    pub(crate) fn new(policy: impl Policy<Req, Res> + Send + Sync + 'static) -> Self {
        Self(Arc::new(policy))
    }
}

impl<A: Algorithm, K, O> Tier<A, K, O> {
    /// Replaces the types of the tier by one that depends only on those of requests and responses.
    pub(crate) fn boxed<Req, Res>(self) -> Tier<AnyAlgorithm, BoxKeyExtractor<Req>, BoxTierOptions<Req, Res>>
    where
        K: KeyExtractor<Req> + Send + Sync + 'static,
        O: TierOptions<Req, Res> + Send + Sync + 'static,
    {
        self.map(
            |algorithm| algorithm.to_any(),
            BoxKeyExtractor::new,
            |options| BoxTierOptions(Arc::new(options)),
        )
    }
}

impl<Req, Res> Sealed for BoxTierOptions<Req, Res> {}

impl<Req, Res> TierOptions<Req, Res> for BoxTierOptions<Req, Res> {
    fn adjust(&self, request: &Req, charge: &mut Charge) {
        self.0.adjust(request, charge);
    }

    fn may_settle(&self) -> bool {
        self.0.may_settle()
    }

    fn reads_body(&self) -> bool {
        self.0.reads_body()
    }

    fn response_cost(&self, response: &Res) -> Option<u64> {
        self.0.response_cost(response)
    }

    fn settle_at_end(&self, response: &mut Res, settlement: &mut TierSettlement<'_, '_>) {
        self.0.settle_at_end(response, settlement);
    }
}

impl<Req, Res> Sealed for BoxPolicy<Req, Res> {}

impl<Req, Res> Policy<Req, Res> for BoxPolicy<Req, Res> {
    fn charge(&self, request: &Req, charges: &mut ChargeBuilder) {
        self.0.charge(request, charges);
    }

    fn settle(&self, response: &mut Res, settlement: &mut Settlement<'_>) {
        self.0.settle(response, settlement);
    }
}

impl<Req, Res> Clone for BoxTierOptions<Req, Res> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<Req, Res> Clone for BoxPolicy<Req, Res> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<Req, Res> fmt::Debug for BoxTierOptions<Req, Res> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxTierOptions").finish_non_exhaustive()
    }
}

impl<Req, Res> fmt::Debug for BoxPolicy<Req, Res> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxPolicy").finish_non_exhaustive()
    }
}
