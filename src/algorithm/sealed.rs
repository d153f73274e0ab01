//! Who may be an algorithm.

/// Keeps [`Algorithm`](super::Algorithm) to the algorithms that Lua knows too.
pub trait Sealed {}
