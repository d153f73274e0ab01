//! Tools for maintainers.

mod exactness;
mod plots;
mod soak;
mod soak_windows;
