//! Who may be a store.

/// Keeps [`Store`](super::Store) to the stores of this crate.
pub trait Sealed {}
