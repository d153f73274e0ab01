//! Connections: shared, and replaced when they are lost or silent.

mod deadlines;
mod fixture;
mod lost;
mod shared;
