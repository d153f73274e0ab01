//! The proxies that are trusted, for rules.

use std::net::IpAddr;

use http::{HeaderName, Request};

use super::{
    client_ip::{ClientIp, Trust},
    peer,
};
use crate::extract::KeyError;

impl ClientIp {
    /// Whether this is the address of a trusted proxy.
    pub(crate) fn trusts(&self, peer: IpAddr) -> bool {
        match &self.trust {
            Trust::Nobody | Trust::Hops(_) => false,
            Trust::Networks(networks) => networks.contain(&peer.to_canonical()),
        }
    }

    /// Whether a request comes from a trusted proxy.
    pub(crate) fn is_relayed<B>(&self, request: &Request<B>) -> Result<bool, KeyError> {
        match &self.trust {
            Trust::Nobody | Trust::Hops(_) => Ok(false),
            Trust::Networks(_) => Ok(peer::known(request)?.is_some_and(|peer| self.trusts(peer))),
        }
    }

    /// The header that trusted proxies write a client's address to.
    pub(crate) fn forwarding_header(&self) -> HeaderName {
        self.header.name()
    }
}
