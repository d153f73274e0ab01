//! Requests that are exempt or blocked.

use std::fmt;

use super::{Bill, Policy, bill::Standing, policy::Sealed};
use crate::extract::{KeyError, Matcher};

/// Exempts or blocks matching requests.
#[derive(Clone)]
pub struct Screen<M> {
    meant: M,
    standing: Standing,
}

impl<M> Screen<M> {
    /// Lets matching requests pass without being counted.
    pub(crate) fn exempt(meant: M) -> Self {
        let standing = Standing::Exempt;
        Self { meant, standing }
    }

    /// Rejects matching requests.
    pub(crate) fn block(meant: M) -> Self {
        let standing = Standing::Blocked;
        Self { meant, standing }
    }
}

impl<M> Sealed for Screen<M> {}

impl<Req, Res, M: Matcher<Req>> Policy<Req, Res> for Screen<M> {
    fn bill(&self, request: &Req, bill: &mut Bill) {
        let standing = match (self.meant.matches(request), self.standing) {
            (Ok(true), standing) => Ok(standing),
            (Ok(false), _) => Ok(Standing::Counted),
            // A request without the value that would exempt it is counted. If the block list cannot be checked, the request is
            // rejected.
            (Err(KeyError::Missing { .. }), Standing::Exempt) => Ok(Standing::Counted),
            (Err(error), _) => Err(error),
        };
        bill.stands(standing);
    }
}

impl<M> fmt::Debug for Screen<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen")
            .field("standing", &self.standing)
            .finish_non_exhaustive()
    }
}
