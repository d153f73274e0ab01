//! What a request is charged: which tiers apply to it, on which terms, and what is corrected afterwards.
//!
//! A policy is a chain of steps. Each looks at the request and either adds a charge to its [`Bill`], or changes what an
//! earlier step has put there. So a new way to charge is a new step, and nothing that carries policies has to know of it.
//! The methods of a [`RateLimitLayer`](crate::RateLimitLayer) add steps; these are their types.

mod bill;
mod correction;
mod cost_by;
mod outcome;
mod per_key;
mod policy;
mod quota_by;
mod screen;
mod sealed;
#[cfg(feature = "axum")]
mod settle_body;
mod shadow;
mod unlisted;

#[cfg(feature = "axum")]
pub use self::settle_body::{Sent, SettleBody};
pub use self::{
    bill::Bill,
    correction::Correction,
    cost_by::CostBy,
    outcome::{RefundIf, Settle},
    per_key::PerKey,
    policy::Policy,
    quota_by::QuotaBy,
    screen::Screen,
    shadow::Shadow,
    unlisted::Unlisted,
};
#[cfg(feature = "rules")]
pub(crate) use self::{bill::Standing, sealed::Sealed};
pub(crate) use self::{bill::Unbilled, correction::SettleLater};
