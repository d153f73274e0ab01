//! What maintainers run.

mod plots;
mod soak;
mod soak_windows;
