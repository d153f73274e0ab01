//! What maintainers run.

mod plots;
mod soak;
