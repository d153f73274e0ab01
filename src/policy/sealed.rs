//! Who may be a step.

/// Keeps [`Policy`](super::Policy) to the steps of this crate.
pub trait Sealed {}
