//! What the steps of a policy have come to.

use crate::{
    charge::{Charge, Charges},
    extract::KeyError,
    limit::Limit,
};

/// A request's charges, while the steps of a policy still add to them and change them.
///
/// A tier that does not know whom to count is noted, too, and not at once an error: a later step may say that it does not
/// matter.
#[derive(Debug, Default)]
pub struct Bill {
    charges: Charges,
    /// The tiers that do not know whom to count, and why. It is nearly always empty.
    unknown: Vec<(Limit, KeyError)>,
}

impl Bill {
    /// Adds a charge. The names of a policy's limits differ.
    pub(super) fn charge(&mut self, charge: Charge) {
        let pushed = self.charges.push(charge);
        debug_assert!(pushed.is_ok(), "limits of different names never share a key");
    }

    /// Notes that nobody knows whom to charge under this limit.
    pub(super) fn cannot_charge(&mut self, limit: &Limit, error: KeyError) {
        self.unknown.push((limit.clone(), error));
    }

    /// The charge under the limit of this name, if that applies to the request.
    pub(super) fn tier(&mut self, name: &str) -> Option<&mut Charge> {
        self.charges.named_mut(name)
    }

    /// What is to be charged in the end.
    pub(crate) fn due(self) -> Result<Charges, KeyError> {
        match self.unknown.into_iter().next() {
            Some((_, error)) => Err(error),
            None => Ok(self.charges),
        }
    }
}
