//! Settings of the store, and the check at startup.

mod check;
mod deployments;
mod fixture;
mod values;
