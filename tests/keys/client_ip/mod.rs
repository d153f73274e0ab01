//! The client's address, as far as it can be trusted.

mod fixture;
mod forwarded;
mod hops;
mod hostile;
mod networks;
mod peer;
