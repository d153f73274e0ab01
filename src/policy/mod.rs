//! Policies: what a request is charged, and how its response corrects the charges.
//!
//! A policy is a chain of steps. Each step reads the request and adds a charge to its [`Bill`], or changes a charge that an
//! earlier step has added. So a new way to charge is a new step, and the code that runs policies does not change. The methods
//! of a [`RateLimitLayer`](crate::RateLimitLayer) add steps; this module contains their types.
//!
//! | method | step |
//! | --- | --- |
//! | [`RateLimitLayer::new`], [`tier`] | [`PerKey`]: a charge of 1 to the request's key |
//! | [`quota`], [`cost`] | [`QuotaBy`], [`CostBy`]: another quota or cost of that charge |
//! | [`hidden`], [`shadow`] | [`Hidden`], [`Shadow`]: whether clients see the tier, and whether it may deny |
//! | [`exempt`], [`block`] | [`Screen`]: no charges; the request passes, or is rejected |
//! | [`refund_if`], [`settle`], `settle_body` | [`RefundIf`], [`Settle`], `SettleBody`: corrections by the response |
//!
//! These types are needed to write down the type of a layer. A pair is a chain and the step that follows it:
//!
//! ```
//! use tollgate::policy::{PerKey, Hidden};
//! use tollgate::{Global, Header, HttpResponder, MemoryStore};
//! use tollgate::{Quota, RateLimitLayer, TokenBucket};
//!
//! type Simple = RateLimitLayer<TokenBucket, Header, MemoryStore>;
//! type Chain = ((PerKey<Global>, Hidden), PerKey<Header>);
//!
//! struct Limits {
//!     simple: Simple,
//!     tiers: RateLimitLayer<TokenBucket, Global, MemoryStore, HttpResponder, Chain>,
//! }
//!
//! let (store, user, quota) = (MemoryStore::new(), Header::new("x-user-id"), Quota::per_minute(60));
//! let limits = Limits {
//!     simple: RateLimitLayer::token_bucket("simple", quota, user.clone(), store.clone()),
//!     tiers: RateLimitLayer::token_bucket("all", Quota::per_second(1000), Global, store)
//!         .hidden()
//!         .tier("user", TokenBucket::new(quota), user),
//! };
//! # let _: axum::Router = axum::Router::new().layer(limits.simple).layer(limits.tiers);
//! ```
//!
//! [`RateLimitLayer::new`]: crate::RateLimitLayer::new
//! [`tier`]: crate::RateLimitLayer::tier
//! [`quota`]: crate::RateLimitLayer::quota
//! [`cost`]: crate::RateLimitLayer::cost
//! [`hidden`]: crate::RateLimitLayer::hidden
//! [`shadow`]: crate::RateLimitLayer::shadow
//! [`exempt`]: crate::RateLimitLayer::exempt
//! [`block`]: crate::RateLimitLayer::block
//! [`refund_if`]: crate::RateLimitLayer::refund_if
//! [`settle`]: crate::RateLimitLayer::settle

mod bill;
mod correction;
mod cost_by;
mod hidden;
mod outcome;
mod per_key;
mod policy;
mod quota_by;
mod screen;
#[cfg(feature = "axum")]
mod settle_body;
mod shadow;

#[cfg(feature = "axum")]
pub use self::settle_body::{SentBody, SettleBody};
pub use self::{
    bill::Bill,
    correction::Correction,
    cost_by::CostBy,
    hidden::Hidden,
    outcome::{RefundIf, Settle},
    per_key::PerKey,
    policy::Policy,
    quota_by::QuotaBy,
    screen::Screen,
    shadow::Shadow,
};
#[cfg(feature = "rules")]
pub(crate) use self::{bill::Standing, policy::Sealed};
pub(crate) use self::{bill::Unbilled, correction::SettleLater};
