//! Metrics, recorded through the `metrics` facade: docs/observability.md lists all of them.
//!
//! The crate calls plain functions when something happens. With the feature `metrics`, `enabled` has every name, unit,
//! description and label; without it, `noop` replaces it, and the compiler removes the calls.
//!
//! Labels are names of limits, addresses of servers and the constants of `labels`. None contains what a client sends, so the
//! number of series is bounded by the configuration.

#[cfg(feature = "metrics")]
mod enabled;
mod labels;
#[cfg(not(feature = "metrics"))]
mod noop;

#[cfg(feature = "metrics")]
pub(crate) use self::enabled::*;
pub(crate) use self::labels::{DecisionSource, RequestOutcome, TierOutcome};
#[cfg(feature = "redis")]
pub(crate) use self::labels::{StoreCallOutcome, UnitOutcome};
#[cfg(not(feature = "metrics"))]
pub(crate) use self::noop::*;
