//! Who is believed.

use std::sync::atomic::{AtomicBool, Ordering};

use http::{HeaderName, HeaderValue, Request};

use crate::{
    extract::{ClientIp, KeyError, KeyExtractor, Matcher, Within},
    key::Key,
};

/// Whose word counts for where a client is, and for what only a proxy may say.
#[derive(Debug)]
pub(super) struct Trust {
    client: ClientIp,
    /// The headers that nobody but a trusted proxy may set.
    headers: Vec<HeaderName>,
    /// Whether it has been said that requests come without an address.
    misconfigured: AtomicBool,
}

impl Trust {
    pub(super) fn new(client: ClientIp, headers: Vec<HeaderName>) -> Self {
        Self {
            client,
            headers,
            misconfigured: AtomicBool::new(false),
        }
    }

    /// Whether only a proxy may set this header.
    pub(super) fn guards(&self, header: &HeaderName) -> bool {
        self.headers.contains(header)
    }

    /// The header, if its sender may set it.
    pub(super) fn header<'r, B>(&self, request: &'r Request<B>, name: &HeaderName) -> Option<&'r HeaderValue> {
        let value = request.headers().get(name)?;
        self.believes(request, name).then_some(value)
    }

    /// Whether the sender of a request may set this header.
    pub(super) fn believes<B>(&self, request: &Request<B>, header: &HeaderName) -> bool {
        !self.guards(header) || self.noted(self.client.is_relayed(request)).unwrap_or(false)
    }

    /// The client's address, as a key.
    pub(super) fn address<B>(&self, request: &Request<B>) -> Result<Key, KeyError> {
        let key = self.noted(self.client.extract(request))?;
        Ok(key.expect("every address is a key"))
    }

    /// Whether the client is in one of these networks, and it is known.
    pub(super) fn is_within<B>(&self, networks: &Within, request: &Request<B>) -> bool {
        self.noted(networks.matches(request)).unwrap_or(false)
    }

    pub(super) fn client(&self) -> &ClientIp {
        &self.client
    }

    /// Rules may go on without an address, but then their author should know that there is none.
    fn noted<T>(&self, result: Result<T, KeyError>) -> Result<T, KeyError> {
        if let Err(error @ KeyError::NotProvided { .. }) = &result
            && !self.misconfigured.swap(true, Ordering::Relaxed)
        {
            tracing::error!(%error, "rules about addresses do not work");
        }
        result
    }
}
