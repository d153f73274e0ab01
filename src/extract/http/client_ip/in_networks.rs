//! The matcher for clients in a set of networks.

use http::Request;

use super::{
    client_ip::{ClientIp, Resolved},
    networks::Networks,
};
use crate::{
    config_error::{self, ConfigError},
    extract::{KeyError, Matcher},
};

impl ClientIp {
    /// A matcher for clients in these networks or single addresses, to [exempt](crate::RateLimitLayer::exempt) or
    /// [block](crate::RateLimitLayer::block) them.
    ///
    /// If the client's address is unknown, because a proxy recorded no address (`for=_hidden`) or the request passed through too
    /// few [hops](Self::trusted_hops), the request is never exempt, and it is rejected with 400 where a network is blocked.
    ///
    /// # Panics
    /// If one is neither a network nor an address.
    #[track_caller]
    pub fn in_networks<N: AsRef<str>>(self, networks: impl IntoIterator<Item = N>) -> InNetworks {
        config_error::expect(self.try_in_networks(networks))
    }

    /// A matcher for clients in these networks, or an error if one is neither a network nor an address.
    pub fn try_in_networks<N: AsRef<str>>(
        self,
        networks: impl IntoIterator<Item = N>,
    ) -> Result<InNetworks, ConfigError> {
        let networks = Networks::parse("networks", networks)?;
        Ok(InNetworks { client: self, networks })
    }
}

/// A matcher for clients in a set of networks. Returned by [`ClientIp::in_networks`].
#[derive(Clone, Debug)]
pub struct InNetworks {
    client: ClientIp,
    networks: Networks,
}

impl<B> Matcher<Request<B>> for InNetworks {
    fn matches(&self, request: &Request<B>) -> Result<bool, KeyError> {
        match self.client.address(request)? {
            Resolved::Client(address) => Ok(self.networks.contains(&address)),
            Resolved::Proxy(_) => Err(KeyError::missing("a trustworthy client address")),
        }
    }
}
