//! Tools for maintainers.

mod plots;
mod soak;
mod soak_windows;
