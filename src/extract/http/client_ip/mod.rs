//! The address of the client, as far as it can be believed.
//!
//! It begins with the socket's peer, which nobody can make up. Only if that is a proxy whom the owner trusts, one header
//! is read, from the right, where each proxy added whom it saw; the first address that is not a trusted proxy's is the
//! client's. What is left of it, a client may have written.

mod client_ip;
mod forwarded;
mod networks;
mod peer;
#[cfg(feature = "rules")]
mod proxies;
mod within;

pub use self::{client_ip::ClientIp, peer::Unaddressed, within::Within};
