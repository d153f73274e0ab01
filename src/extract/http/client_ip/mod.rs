//! The client's address.
//!
//! Resolution starts at the socket's peer address, which cannot be forged. If the peer is a trusted proxy, one header is read
//! from right to left, since each proxy appends the address of its peer. The first address that does not belong to a trusted
//! proxy is the client's; the addresses to its left may be forged.

mod client_ip;
mod forwarded;
mod in_networks;
mod networks;
mod peer;

pub use self::{client_ip::ClientIp, in_networks::InNetworks, peer::NoPeerAddr};
