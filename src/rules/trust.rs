//! Who is believed.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use http::{HeaderName, HeaderValue, Request};

use crate::{
    extract::{ClientIp, KeyError, KeyExtractor, Matcher, Within},
    key::Key,
};

/// The proxies that a rules file trusts, and what only they may set. Made by [`RuleSet::trusted_proxies`](crate::RuleSet::trusted_proxies).
///
/// It is for a proxy that forwards requests and has to remove what clients made up.
#[derive(Clone, Debug)]
pub struct TrustedProxies {
    client: ClientIp,
    headers: Arc<[HeaderName]>,
}

impl TrustedProxies {
    /// Whether this is the address of one of them.
    pub fn contains(&self, peer: IpAddr) -> bool {
        self.client.trusts(peer)
    }

    /// The header that they write a client's address to: `x-forwarded-for` or `forwarded`.
    pub fn forwarding_header(&self) -> HeaderName {
        self.client.forwarding_header()
    }

    /// The headers that nobody else may set.
    pub fn headers(&self) -> &[HeaderName] {
        &self.headers
    }
}

/// Whose word counts for where a client is, and for what only a proxy may say.
#[derive(Debug)]
pub(super) struct Trust {
    proxies: TrustedProxies,
    /// Whether it has been said that requests come without an address.
    misconfigured: AtomicBool,
}

impl Trust {
    pub(super) fn new(client: ClientIp, headers: Vec<HeaderName>) -> Self {
        let headers = headers.into();
        Self {
            proxies: TrustedProxies { client, headers },
            misconfigured: AtomicBool::new(false),
        }
    }

    /// Whether only a proxy may set this header.
    pub(super) fn guards(&self, header: &HeaderName) -> bool {
        self.proxies.headers.contains(header)
    }

    /// The header, if its sender may set it.
    pub(super) fn header<'r, B>(
        &self,
        request: &'r Request<B>,
        name: &HeaderName,
    ) -> Result<Option<&'r HeaderValue>, KeyError> {
        let mut values = request.headers().get_all(name).into_iter();
        match self.guards(name) {
            false => Ok(values.next()),
            // The nearest proxy is the last one who can have added something to what a client sent.
            true => match values.next_back() {
                Some(value) => Ok(self.proxies.client.is_relayed(request)?.then_some(value)),
                None => Ok(None),
            },
        }
    }

    /// Whether the sender of a request may set this header.
    pub(super) fn believes<B>(&self, request: &Request<B>, header: &HeaderName) -> Result<bool, KeyError> {
        Ok(!self.guards(header) || self.proxies.client.is_relayed(request)?)
    }

    /// The client's address, as a key.
    pub(super) fn address<B>(&self, request: &Request<B>) -> Result<Key, KeyError> {
        let key = self.proxies.client.extract(request)?;
        Ok(key.expect("every address is a key"))
    }

    /// Whether the client is known to be in one of these networks. A service that does not provide addresses goes on without
    /// exemptions by network: whoever adds one to the rules should not stop it.
    pub(super) fn is_within<B>(&self, networks: &Within, request: &Request<B>) -> bool {
        match networks.matches(request) {
            Err(error @ KeyError::NotProvided { .. }) if !self.misconfigured.swap(true, Ordering::Relaxed) => {
                tracing::error!(%error, "networks exempt nobody");
                false
            }
            within => within.unwrap_or(false),
        }
    }

    pub(super) fn proxies(&self) -> &TrustedProxies {
        &self.proxies
    }

    pub(super) fn client(&self) -> &ClientIp {
        &self.proxies.client
    }
}
