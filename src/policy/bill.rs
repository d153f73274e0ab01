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
    standing: Standing,
    /// Why nobody knows how the request stands.
    unscreened: Option<KeyError>,
    /// The tiers that do not know whom to count, and why. It is nearly always empty.
    unknown: Vec<(Limit, KeyError)>,
}

/// How a request stands, the strongest word last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    /// It is counted, as most are.
    #[default]
    Counted,
    /// It is not counted, and passes.
    Exempt,
    /// It is not counted, and does not pass.
    Denied,
}

/// Why a bill is not made out.
#[derive(Debug)]
pub(crate) enum Unbilled {
    Denied,
    Key(KeyError),
}

impl Bill {
    /// Adds a charge. The names of a policy's limits differ.
    pub(crate) fn charge(&mut self, charge: Charge) {
        let pushed = self.charges.push(charge);
        debug_assert!(pushed.is_ok(), "limits of different names never share a key");
    }

    /// Notes that nobody knows whom to charge under this limit.
    pub(crate) fn cannot_charge(&mut self, limit: &Limit, error: KeyError) {
        self.unknown.push((limit.clone(), error));
    }

    /// The charge under the limit of this name, if that applies to the request.
    pub(super) fn tier(&mut self, name: &str) -> Option<&mut Charge> {
        self.charges.named_mut(name)
    }

    /// The limit of this name is only watched: it refuses nobody, nor does it matter if it cannot count somebody.
    pub(crate) fn shadow(&mut self, name: &str) {
        if let Some(charge) = self.tier(name) {
            charge.shadow = true;
        }
        self.unknown.retain(|(limit, _)| limit.name() != name);
    }

    /// The charge under the limit of this name may be corrected once there is a response.
    pub(super) fn expect_correction(&mut self, name: &str) {
        if let Some(charge) = self.tier(name) {
            charge.provisional = true;
        }
    }

    /// How the request stands, if nobody has used a stronger word.
    pub(crate) fn stands(&mut self, standing: Result<Standing, KeyError>) {
        match standing {
            Ok(standing) => self.standing = self.standing.max(standing),
            Err(error) => self.unscreened = Some(error),
        }
    }

    /// What is to be charged in the end.
    pub(crate) fn due(self) -> Result<Charges, Unbilled> {
        let unknown = || self.unknown.into_iter().next();
        match (self.standing, self.unscreened) {
            (Standing::Denied, _) => Err(Unbilled::Denied),
            (_, Some(error)) => Err(Unbilled::Key(error)),
            (Standing::Exempt, None) => Ok(Charges::new()),
            (Standing::Counted, None) => match unknown() {
                Some((_, error)) => Err(Unbilled::Key(error)),
                None => Ok(self.charges),
            },
        }
    }
}
