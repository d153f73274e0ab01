//! Requests from some networks, to be exempt or denied.

use http::Request;

use super::{
    client_ip::{ClientIp, Whose},
    networks::Networks,
};
use crate::{
    extract::{KeyError, Matcher},
    invalid::{self, Invalid},
};

impl ClientIp {
    /// Requests from these networks or single addresses, to [exempt](crate::RateLimitLayer::exempt) or to
    /// [deny](crate::RateLimitLayer::deny) them.
    ///
    /// A request whose client cannot be told, since a proxy wrote no address (`for=_hidden`) or it passed through too few
    /// [hops](Self::hops), is never exempt, and it is refused (400) where a network is denied.
    ///
    /// # Panics
    /// When one is neither a network nor an address.
    #[track_caller]
    pub fn within<N: AsRef<str>>(self, networks: impl IntoIterator<Item = N>) -> Within {
        invalid::expect(self.try_within(networks))
    }

    /// Requests from these networks, or an error when one is neither a network nor an address.
    pub fn try_within<N: AsRef<str>>(self, networks: impl IntoIterator<Item = N>) -> Result<Within, Invalid> {
        let networks = Networks::parse("networks", networks)?;
        Ok(Within { client: self, networks })
    }
}

/// Requests whose client is in one of some networks. Made by [`ClientIp::within`].
#[derive(Clone, Debug)]
pub struct Within {
    client: ClientIp,
    networks: Networks,
}

impl<B> Matcher<Request<B>> for Within {
    fn matches(&self, request: &Request<B>) -> Result<bool, KeyError> {
        match self.client.address(request)? {
            Whose::Client(address) => Ok(self.networks.contain(&address)),
            Whose::Proxy(_) => Err(KeyError::missing("an address of its client that can be believed")),
        }
    }
}
