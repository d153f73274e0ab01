//! The layers and their builder methods.

mod boxed;
mod constructors;
mod failure_mode;
mod filters;
mod layer;
mod queueing;
#[cfg(feature = "rules")]
mod rules_layer;
mod tiers;

#[cfg(feature = "rules")]
pub use self::rules_layer::RulesLayer;
pub use self::{boxed::BoxRateLimitLayer, layer::RateLimitLayer};
