//! Requests that are not counted: those that pass in any case, and those that never do.

use std::fmt;

use super::{Bill, Policy, bill::Standing, sealed::Sealed};
use crate::extract::{KeyError, Matcher};

/// Exempts the requests that are meant, or denies them.
#[derive(Clone)]
pub struct Screen<M> {
    meant: M,
    standing: Standing,
}

impl<M> Screen<M> {
    /// These pass, and are not counted.
    pub(crate) fn exempt(meant: M) -> Self {
        let standing = Standing::Exempt;
        Self { meant, standing }
    }

    /// These do not pass.
    pub(crate) fn deny(meant: M) -> Self {
        let standing = Standing::Denied;
        Self { meant, standing }
    }
}

impl<M> Sealed for Screen<M> {}

impl<Req, Res, M: Matcher<Req>> Policy<Req, Res> for Screen<M> {
    fn bill(&self, request: &Req, bill: &mut Bill) {
        let standing = match (self.meant.matches(request), self.standing) {
            (Ok(true), standing) => Ok(standing),
            (Ok(false), _) => Ok(Standing::Counted),
            // Whoever lacks what would exempt it is counted; whoever cannot be told from the denied does not pass.
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
