//! What is measured, for whoever installs a recorder of the `metrics` facade: docs/observability.md lists all of it.
//!
//! The rest of the crate says in plain calls what has happened. With the feature `metrics`, `recorded` has every name, unit,
//! description and label; without it, `unrecorded` takes its place, and the compiler leaves nothing of the calls.
//!
//! Labels are names of limits, addresses of servers and words of this module. None is made of what a client sends, so there are
//! as many as operators have written down.

mod fate;
#[cfg(feature = "metrics")]
mod recorded;
#[cfg(not(feature = "metrics"))]
mod unrecorded;

#[cfg(feature = "redis")]
pub(crate) use self::fate::Wait;
pub(crate) use self::fate::{By, Fate, Said};
#[cfg(feature = "metrics")]
pub(crate) use self::recorded::*;
#[cfg(not(feature = "metrics"))]
pub(crate) use self::unrecorded::*;
