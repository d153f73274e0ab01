//! The charges of a request, as the steps of a policy collect them.

use crate::{
    charge::{Charge, Charges},
    extract::KeyError,
    limit::Limit,
};

/// A request's charges, while the steps of a policy add and change them.
///
/// A tier whose key is missing is recorded instead of failing at once: a later step may make it a shadow, or exempt the
/// request.
#[derive(Debug, Default)]
pub struct Bill {
    charges: Charges,
    standing: Standing,
    /// Why it is unknown whether the request is exempt or blocked.
    unscreened: Option<KeyError>,
    /// The tiers whose key is missing, and why. Nearly always empty.
    unknown: Vec<(Limit, KeyError)>,
}

/// Whether a request is counted, in ascending precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
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
pub(crate) enum Unbilled {
    Blocked,
    Key(KeyError),
}

impl Bill {
    /// Adds a charge, which fails open unless the layer fails closed. The limits of a policy have distinct names.
    pub(crate) fn charge(&mut self, mut charge: Charge) {
        charge.fails_open = true;
        let pushed = self.charges.push(charge);
        debug_assert!(pushed.is_ok(), "limits of different names never share a key");
    }

    /// Records that the key to charge under this limit is missing.
    pub(crate) fn cannot_charge(&mut self, limit: &Limit, error: KeyError) {
        self.unknown.push((limit.clone(), error));
    }

    /// The charge under the limit of this name, if it applies to the request.
    pub(super) fn tier(&mut self, name: &str) -> Option<&mut Charge> {
        self.charges.named_mut(name)
    }

    /// Makes the limit of this name a shadow: it denies no request, and its key may be missing.
    pub(crate) fn shadow(&mut self, name: &str) {
        if let Some(charge) = self.tier(name) {
            charge.shadow = true;
        }
        self.unknown.retain(|(limit, _)| limit.name() != name);
    }

    /// Marks the charge under the limit of this name as provisional: the response may correct it.
    pub(super) fn expect_correction(&mut self, name: &str) {
        if let Some(charge) = self.tier(name) {
            charge.provisional = true;
        }
    }

    /// Sets whether the request is counted, unless an earlier step has set a value of higher precedence.
    pub(crate) fn stands(&mut self, standing: Result<Standing, KeyError>) {
        match standing {
            Ok(standing) => self.standing = self.standing.max(standing),
            Err(error) => self.unscreened = Some(error),
        }
    }

    /// The charges to acquire, or why the request is rejected.
    pub(crate) fn due(self) -> Result<Charges, Unbilled> {
        let unknown = || self.unknown.into_iter().next();
        match (self.standing, self.unscreened) {
            (Standing::Blocked, _) => Err(Unbilled::Blocked),
            (_, Some(error)) => Err(Unbilled::Key(error)),
            (Standing::Exempt, None) => Ok(Charges::new()),
            (Standing::Counted, None) => match unknown() {
                Some((_, error)) => Err(Unbilled::Key(error)),
                None => Ok(self.charges),
            },
        }
    }
}
