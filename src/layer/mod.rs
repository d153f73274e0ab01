//! The `RateLimitLayer` and its builder methods.

mod constructors;
mod failing;
mod in_code;
mod layer;
mod outcomes;
#[cfg(feature = "rules")]
mod rules;
mod screening;
mod tiers;
mod waiting;

pub use self::layer::RateLimitLayer;
