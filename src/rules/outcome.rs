//! How the response settles the charge of a rule: `refund_status` and `settle_json` of a rules file.

use http::{Response, StatusCode};

#[cfg(feature = "axum")]
pub(super) use crate::policy::JsonUsage;
use crate::{charge::Settling, policy::TierSettlement};

/// Without axum, bodies are not read: there is no value of this type.
#[cfg(not(feature = "axum"))]
pub(super) type JsonUsage = std::convert::Infallible;

/// The responses that settle a charge. By default, none does.
#[derive(Debug, Default)]
pub(super) struct OutcomeSpec {
    /// The statuses of responses whose charge is refunded.
    pub(super) refund: Vec<StatusPattern>,
    /// Where a response states its cost.
    pub(super) usage: Option<JsonUsage>,
}

/// A status, or a class of statuses.
#[derive(Clone, Copy, Debug)]
pub(super) enum StatusPattern {
    /// The first digit of the statuses.
    Class(u16),
    Status(u16),
}

impl OutcomeSpec {
    pub(super) fn settling(&self) -> Settling {
        let reads_body = self.usage.is_some();
        Settling::by(reads_body || !self.refund.is_empty(), reads_body)
    }

    /// Settles the charge of an admitted request. A refund takes precedence over the body.
    pub(super) fn settle<C: 'static>(&self, response: &mut Response<C>, charge: &mut TierSettlement<'_, '_>) {
        let status = response.status();
        if self.refund.iter().any(|pattern| pattern.matches(status)) {
            charge.settle(0);
        } else if let Some(usage) = &self.usage {
            settle_by_usage(usage, response, charge);
        }
    }
}

impl StatusPattern {
    fn matches(self, status: StatusCode) -> bool {
        match self {
            Self::Class(class) => status.as_u16() / 100 == class,
            Self::Status(code) => status.as_u16() == code,
        }
    }
}

/// Settles the charge when the body ends, if it is of axum's type. Bodies of other types cannot be replaced by one that is read.
#[cfg(feature = "axum")]
fn settle_by_usage<C: 'static>(usage: &JsonUsage, response: &mut Response<C>, charge: &mut TierSettlement<'_, '_>) {
    let response: &mut dyn std::any::Any = response;
    if let Some(response) = response.downcast_mut::<Response<axum::body::Body>>() {
        crate::policy::settle_at_end(response, charge, |response| usage.meter(response.headers()));
    }
}

#[cfg(not(feature = "axum"))]
fn settle_by_usage<C>(usage: &JsonUsage, _: &mut Response<C>, _: &mut TierSettlement<'_, '_>) {
    match *usage {}
}
