//! What a request is charged: which tiers apply to it, on which terms, and what is corrected afterwards.
//!
//! A policy is a chain of steps. Each looks at the request and either adds a charge to its [`Bill`], or changes what an
//! earlier step has put there. So a new way to charge is a new step, and nothing that carries policies has to know of it.
//! The methods of a [`RateLimitLayer`](crate::RateLimitLayer) add steps; these are their types.
//!
//! | you write | and the chain grows by |
//! | --- | --- |
//! | [`RateLimitLayer::new`], [`tier`] | [`PerKey`]: a charge of 1, to the request's key |
//! | [`quota`], [`cost`] | [`QuotaBy`], [`CostBy`]: other terms for that charge |
//! | [`unlisted`], [`shadow`] | [`Unlisted`], [`Shadow`]: who is told of it, and whether it may refuse |
//! | [`exempt`], [`deny`] | [`Screen`]: nothing is charged, and the request passes or does not |
//! | [`refund_if`], [`settle`], `settle_body` | [`RefundIf`], [`Settle`], `SettleBody`: what is corrected by the response |
//!
//! You meet them where the type of a layer has to be written down, and there each pair is a chain so far and its next step:
//!
//! ```
//! use tollgate::policy::{PerKey, Unlisted};
//! use tollgate::{Global, Header, HttpAnswers, MemoryStore};
//! use tollgate::{Quota, RateLimitLayer, TokenBucket};
//!
//! type Simple = RateLimitLayer<TokenBucket, Header, MemoryStore>;
//! type Chain = ((PerKey<Global>, Unlisted), PerKey<Header>);
//!
//! struct Limits {
//!     simple: Simple,
//!     tiers: RateLimitLayer<TokenBucket, Global, MemoryStore, HttpAnswers, Chain>,
//! }
//!
//! let (store, user, quota) = (MemoryStore::new(), Header::new("x-user-id"), Quota::per_minute(60));
//! let limits = Limits {
//!     simple: RateLimitLayer::token_bucket("simple", quota, user.clone(), store.clone()),
//!     tiers: RateLimitLayer::token_bucket("all", Quota::per_second(1000), Global, store)
//!         .unlisted()
//!         .tier("user", TokenBucket::new(quota), user),
//! };
//! # let _: axum::Router = axum::Router::new().layer(limits.simple).layer(limits.tiers);
//! ```
//!
//! [`RateLimitLayer::new`]: crate::RateLimitLayer::new
//! [`tier`]: crate::RateLimitLayer::tier
//! [`quota`]: crate::RateLimitLayer::quota
//! [`cost`]: crate::RateLimitLayer::cost
//! [`unlisted`]: crate::RateLimitLayer::unlisted
//! [`shadow`]: crate::RateLimitLayer::shadow
//! [`exempt`]: crate::RateLimitLayer::exempt
//! [`deny`]: crate::RateLimitLayer::deny
//! [`refund_if`]: crate::RateLimitLayer::refund_if
//! [`settle`]: crate::RateLimitLayer::settle

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
