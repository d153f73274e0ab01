//! Warns of a proxy that `[trust]` does not list: its clients would share the limits of one address.

use std::net::SocketAddr;

use http::{HeaderName, Request};
use tollgate::RuleSet;

use crate::server::log_throttle::LogThrottle;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

#[derive(Default)]
pub(super) struct UntrustedProxies(LogThrottle);

impl UntrustedProxies {
    pub(super) fn warn(&self, rules: &RuleSet, request: &Request<()>) {
        let Some(peer) = request.extensions().get::<SocketAddr>() else {
            return;
        };
        let (proxies, headers) = (rules.trusted_proxies(), request.headers());
        let has_address = headers.contains_key(X_FORWARDED_FOR) || headers.contains_key(proxies.forwarding_header());
        let peer = peer.ip().to_canonical();
        if has_address && !proxies.contains(peer) {
            self.0.record(|checks| {
                tracing::warn!(
                    target: "tollgate::service",
                    %peer,
                    checks,
                    "client addresses from an untrusted peer are ignored: its clients share one limit until [trust] lists it as a proxy"
                );
            });
        }
    }
}
