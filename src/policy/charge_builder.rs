//! The charges of a request, as the parts of a policy collect them.

use crate::{
    charge::{Charge, Charges},
    extract::KeyError,
};

/// A request's charges, while the parts of a policy add them.
///
/// A missing key is recorded instead of failing at once: a later part may exempt the request, or block it.
#[derive(Debug, Default)]
pub struct ChargeBuilder {
    charges: Charges,
    access: Access,
    /// Why it is unknown whether the request is blocked.
    unfiltered: Option<KeyError>,
    /// Why the first tier whose key is missing has none.
    missing_key: Option<KeyError>,
}

/// Whether a request is counted, in ascending precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    /// The request is counted.
    #[default]
    Counted,
    /// The request passes without being counted.
    Exempt,
    /// The request is rejected without being counted.
    Blocked,
}

/// Why a request is rejected before it is charged.
#[derive(Debug)]
pub(crate) enum NotCharged {
    Blocked,
    Key(KeyError),
}

impl ChargeBuilder {
    /// Adds a charge, which fails open unless the layer fails closed. The limits of a policy have distinct names.
    #[inline]
    pub(crate) fn push(&mut self, mut charge: Charge) {
        charge.fails_open = true;
        let is_distinct = |charges: &Charges| charges.iter().all(|other| !other.counts_as(&charge));
        debug_assert!(
            is_distinct(&self.charges),
            "limits of different names never share a key"
        );
        self.charges.push_distinct(charge);
    }

    /// Adds a charge, or adds its cost to an earlier charge of the same key under the same limit.
    #[cfg(feature = "rules")]
    pub(crate) fn push_or_add(&mut self, mut charge: Charge) {
        charge.fails_open = true;
        self.charges.push_or_add(charge);
    }

    /// Records that the key of a tier is missing.
    pub(crate) fn push_missing_key(&mut self, error: KeyError) {
        self.missing_key.get_or_insert(error);
    }

    /// Sets whether the request is counted, unless an earlier part has set a value of higher precedence.
    pub(crate) fn set_access(&mut self, access: Result<Access, KeyError>) {
        match access {
            Ok(access) => self.access = self.access.max(access),
            Err(error) => self.unfiltered = Some(error),
        }
    }

    /// The charges to acquire, or why the request is rejected.
    #[inline]
    pub(crate) fn finish(self) -> Result<Charges, NotCharged> {
        match self {
            Self {
                access: Access::Counted,
                unfiltered: None,
                missing_key: None,
                charges,
            } => Ok(charges),
            rare => rare.finish_rare(),
        }
    }

    /// Outlined, since most requests are counted and have all keys.
    #[inline(never)]
    fn finish_rare(self) -> Result<Charges, NotCharged> {
        match (self.access, self.unfiltered, self.missing_key) {
            (Access::Blocked, _, _) => Err(NotCharged::Blocked),
            (_, Some(error), _) | (Access::Counted, None, Some(error)) => Err(NotCharged::Key(error)),
            (Access::Exempt, None, _) => Ok(Charges::new()),
            (Access::Counted, None, None) => Ok(self.charges),
        }
    }
}
