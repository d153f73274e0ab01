//! Policies: what a request is charged, and how its response settles the charges.
//!
//! The policy of a [`RateLimitLayer`](crate::RateLimitLayer) is a chain of [tiers](Tier) and [request filters](RequestFilter), and
//! each tier has a chain of options. These types are needed to write down the type of a layer that has some of them:
//!
//! | method | type |
//! | --- | --- |
//! | [`Tier::quota`], [`Tier::cost`] | [`DynamicQuota`], [`DynamicCost`]: the quota and the cost per request |
//! | [`Tier::refund_if`], [`Tier::settle`] | [`RefundIf`], [`Settle`]: corrections by the response |
//! | `Tier::settle_body`, `Tier::meter_body` | `SettleBody`, `SettleByMeter`: corrections when the response body ends |
//! | [`exempt`](crate::RateLimitLayer::exempt), [`block`](crate::RateLimitLayer::block) | [`RequestFilter`]: requests that are not counted |
//!
//! A chain is `()`, or a pair of a chain and the part that follows it.
//! [Types that can be written](crate::RateLimitLayer#types) has an example, and the type for layers with closures.

mod boxed;
mod charge_builder;
mod dynamic_cost;
mod dynamic_quota;
#[cfg(feature = "axum")]
mod meter;
mod options;
mod policy;
mod request_filter;
mod response_cost;
mod settlement;
mod tier;

#[cfg(all(feature = "axum", feature = "rules"))]
pub(crate) use self::meter::settle_at_end;
#[cfg(feature = "axum")]
pub use self::meter::{BodyMeter, JsonUsage, MeterBody, SentBody, SettleBody, SettleByMeter, UsageMeter};
pub use self::{
    boxed::{BoxPolicy, BoxTierOptions},
    charge_builder::ChargeBuilder,
    dynamic_cost::DynamicCost,
    dynamic_quota::DynamicQuota,
    options::TierOptions,
    policy::Policy,
    request_filter::RequestFilter,
    response_cost::{RefundIf, Settle},
    settlement::{Settlement, TierSettlement},
    tier::Tier,
};
#[cfg(feature = "rules")]
pub(crate) use self::{charge_builder::Access, policy::Sealed};
pub(crate) use self::{charge_builder::NotCharged, settlement::SettleLater};
