//! Who is believed.

use std::sync::atomic::{AtomicBool, Ordering};

use http::{HeaderMap, HeaderName, HeaderValue, Request, header::COOKIE};

use crate::{
    extract::{ClientIp, KeyError, KeyExtractor, Matcher, Within, reads_like, remove_all},
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
                Some(value) => Ok(self.client.is_relayed(request)?.then_some(value)),
                None => Ok(None),
            },
        }
    }

    /// Whether the sender of a request may set this header.
    pub(super) fn believes<B>(&self, request: &Request<B>, header: &HeaderName) -> Result<bool, KeyError> {
        Ok(!self.guards(header) || self.client.is_relayed(request)?)
    }

    /// The client's address, as a key.
    pub(super) fn address<B>(&self, request: &Request<B>) -> Result<Key, KeyError> {
        let key = self.client.extract(request)?;
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

    /// Leaves of a request's headers what can be believed, for whoever it is passed on to.
    pub(super) fn pass_on<B>(&self, request: &mut Request<B>) -> Result<(), KeyError> {
        let is_relayed = self.client.is_relayed(request)?;
        self.client.pass_on(request)?;
        let headers = request.headers_mut();
        remove_all(headers, |name| self.is_disguised(name));
        for name in self.headers.iter().filter(|name| !ClientIp::is_told_by(name)) {
            match is_relayed {
                false => drop(headers.remove(name)),
                // Every line of these counts: HTTP/2 may send each cookie in one of its own.
                true if *name == COOKIE => {}
                true => keep_last(headers, name),
            }
        }
        Ok(())
    }

    /// Whether a header is another one than those that only proxies may set, and reads like one of them.
    fn is_disguised(&self, name: &HeaderName) -> bool {
        let reads_like = |guarded: &HeaderName| reads_like(name.as_str(), guarded.as_str());
        !self.guards(name) && self.headers.iter().any(reads_like)
    }

    pub(super) fn client(&self) -> &ClientIp {
        &self.client
    }
}

/// Of several lines of a header, leaves the one that counts.
fn keep_last(headers: &mut HeaderMap, name: &HeaderName) {
    let mut lines = headers.get_all(name).into_iter();
    if let (Some(last), Some(_)) = (lines.next_back().cloned(), lines.next()) {
        headers.remove(name);
        // It takes the room of those that were removed.
        headers.try_insert(name, last).ok();
    }
}
