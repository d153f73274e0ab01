//! The address of the client, as far as it can be believed.

mod fixture;
mod forwarded;
mod hops;
mod hostile;
mod networks;
mod peer;
