//! Requests that are exempt or blocked.

use std::fmt;

use super::{
    Policy,
    charge_builder::{Access, ChargeBuilder},
    policy::Sealed,
};
use crate::extract::{KeyError, Matcher};

/// Exempts or blocks matching requests.
#[derive(Clone)]
pub struct RequestFilter<M> {
    requests: M,
    access: Access,
}

impl<M> RequestFilter<M> {
    /// Lets matching requests pass without being counted.
    pub(crate) fn exempt(requests: M) -> Self {
        let access = Access::Exempt;
        Self { requests, access }
    }

    /// Rejects matching requests.
    pub(crate) fn block(requests: M) -> Self {
        let access = Access::Blocked;
        Self { requests, access }
    }
}

impl<M> Sealed for RequestFilter<M> {}

impl<Req, Res, M: Matcher<Req>> Policy<Req, Res> for RequestFilter<M> {
    fn charge(&self, request: &Req, charges: &mut ChargeBuilder) {
        let access = match (self.requests.matches(request), self.access) {
            (Ok(true), access) => Ok(access),
            (Ok(false), _) => Ok(Access::Counted),
            // A request without the value that would exempt it is counted. If the block list cannot be checked, the request is
            // rejected.
            (Err(KeyError::Missing { .. }), Access::Exempt) => Ok(Access::Counted),
            // Otherwise it is rejected, unless another part exempts it.
            (Err(error), Access::Exempt) => return charges.push_missing_key(error),
            (Err(error), _) => Err(error),
        };
        charges.set_access(access);
    }
}

impl<M> fmt::Debug for RequestFilter<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestFilter")
            .field("access", &self.access)
            .finish_non_exhaustive()
    }
}
