//! What whoever comes next is told of a request's way.

use http::{HeaderName, Request};

use super::{
    super::disguise::remove_all,
    client_ip::{ClientIp, Trust},
    forwarded::is_told_by_proxies,
    peer,
};
use crate::extract::KeyError;

impl ClientIp {
    /// Whether a request comes from one of the proxies that are trusted.
    pub(crate) fn is_relayed<B>(&self, request: &Request<B>) -> Result<bool, KeyError> {
        match &self.trust {
            Trust::Nobody | Trust::Hops(_) => Ok(false),
            Trust::Networks(networks) => Ok(peer::known(request)?.is_some_and(|peer| networks.contain(&peer))),
        }
    }

    /// Leaves of what a request says of its way what can be believed, and adds where it came from last, for whoever comes next
    /// and trusts this service.
    pub(crate) fn pass_on<B>(&self, request: &mut Request<B>) -> Result<(), KeyError> {
        let (peer, is_relayed) = (peer::known(request)?, self.is_relayed(request)?);
        let other = self.header.other().name();
        let headers = request.headers_mut();
        // Proxies that write the one header let through what clients wrote in the other, or in what only reads like theirs.
        let is_believed = |name: &HeaderName| is_relayed && *name != other && !name.as_str().contains('_');
        remove_all(headers, |name| Self::is_told_by(name) && !is_believed(name));
        if let Some(peer) = peer {
            self.header.add(headers, peer);
        }
        Ok(())
    }

    /// Whether proxies tell by this header where a request came from, or what they saw of it.
    pub(crate) fn is_told_by(header: &HeaderName) -> bool {
        is_told_by_proxies(header)
    }
}
