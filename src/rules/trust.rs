//! Trust in proxies: `[trust]` of a rules file.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use http::{HeaderName, HeaderValue, Request};

use crate::{
    extract::{ClientIp, InNetworks, KeyError, KeyExtractor, Matcher},
    key::Key,
};

/// The proxies that a rules file trusts, and the headers that only they may set.
///
/// Returned by [`RuleSet::trusted_proxies`](crate::RuleSet::trusted_proxies), for reverse proxies that have to remove forged
/// headers.
#[derive(Clone, Debug)]
pub struct TrustedProxies {
    client: ClientIp,
    headers: Arc<[HeaderName]>,
}

impl TrustedProxies {
    /// Whether the address belongs to a trusted proxy.
    pub fn contains(&self, peer: IpAddr) -> bool {
        self.client.trusts(peer)
    }

    /// The header in which proxies record client addresses: `x-forwarded-for` or `forwarded`.
    pub fn forwarding_header(&self) -> HeaderName {
        self.client.forwarding_header()
    }

    /// The headers that only trusted proxies may set.
    pub fn headers(&self) -> &[HeaderName] {
        &self.headers
    }
}

/// Resolves client addresses, and ignores protected headers from untrusted peers.
#[derive(Debug)]
pub(super) struct Trust {
    proxies: TrustedProxies,
    /// Whether the error about missing peer addresses has been logged.
    has_logged: AtomicBool,
}

impl Trust {
    pub(super) fn new(client: ClientIp, headers: Vec<HeaderName>) -> Self {
        let headers = headers.into();
        Self {
            proxies: TrustedProxies { client, headers },
            has_logged: AtomicBool::new(false),
        }
    }

    /// Whether only a trusted proxy may set this header.
    pub(super) fn is_protected(&self, header: &HeaderName) -> bool {
        self.proxies.headers.contains(header)
    }

    /// The values of a header, if the peer may set it; of a protected header only the last one.
    pub(super) fn header<'r, B>(
        &self,
        request: &'r Request<B>,
        name: &HeaderName,
    ) -> Result<impl Iterator<Item = &'r HeaderValue>, KeyError> {
        let values = request.headers().get_all(name);
        let count = match self.is_protected(name) {
            false => usize::MAX,
            true if values.iter().next().is_none() => 0,
            // The nearest proxy appends its value after those that the client sent.
            true => usize::from(self.proxies.client.is_from_trusted_proxy(request)?),
        };
        Ok(values.into_iter().rev().take(count))
    }

    /// Whether the peer of a request may set this header.
    pub(super) fn is_trusted<B>(&self, request: &Request<B>, header: &HeaderName) -> Result<bool, KeyError> {
        Ok(!self.is_protected(header) || self.proxies.client.is_from_trusted_proxy(request)?)
    }

    /// The client's address, as a key.
    pub(super) fn client_key<B>(&self, request: &Request<B>) -> Result<Key, KeyError> {
        self.proxies.client.extract(request)
    }

    /// Whether the client is known to be in one of these networks. If the service does not provide peer addresses, exemptions by
    /// network are ignored, so that adding one to the rules cannot cause an outage.
    pub(super) fn is_in_networks<B>(&self, networks: &InNetworks, request: &Request<B>) -> bool {
        match networks.matches(request) {
            Err(error @ KeyError::NotProvided { .. }) if !self.has_logged.swap(true, Ordering::Relaxed) => {
                tracing::error!(target: "tollgate::rules", %error, "exemptions by network are off: requests have no peer address");
                false
            }
            matches => matches.unwrap_or(false),
        }
    }

    pub(super) fn proxies(&self) -> &TrustedProxies {
        &self.proxies
    }

    pub(super) fn client(&self) -> &ClientIp {
        &self.proxies.client
    }
}
