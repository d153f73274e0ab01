//! Forwards a request to the upstream and returns its response.

use std::{net::SocketAddr, time::Duration};

use axum::body::Body;
use http::{
    HeaderValue, Request, Response, Uri, Version,
    header::{TRANSFER_ENCODING, VIA},
    uri::{Authority, Scheme},
};
use hyper::body::{Body as _, Incoming};
use hyper_util::{
    client::legacy::Client,
    rt::{TokioExecutor, TokioTimer},
};
use tollgate::{Permit, RuleSet};

use super::{
    Timeouts,
    connector::Connector,
    error,
    request_body::{RequestBody, Side, UploadMonitor},
    response_body::ResponseBody,
    websocket::WebSocketUpgrade,
};
use crate::{
    common::random_id,
    gateway::{
        headers,
        metrics::GatewayMetrics,
        response::{FromUpstream, ProxyError},
        sanitize::sanitize_forwarded,
    },
    server::{
        connection::{MAX_HEAD_BYTES, UnreadBody},
        log_throttle::LogThrottle,
        response::ServerResponse,
    },
};

/// Shorter than the keep-alive timeout of common servers: a request on a connection that the upstream closes at that moment may
/// or may not have been processed.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(4);

pub(crate) struct Proxy {
    client: Client<Connector, Body>,
    upstream: Authority,
    timeouts: Timeouts,
    /// For the trusted proxies.
    rules: RuleSet,
    /// This gateway in `Via` headers.
    via: HeaderValue,
    metrics: GatewayMetrics,
    failures: LogThrottle,
}

impl Proxy {
    pub(crate) fn new(upstream: Authority, timeouts: Timeouts, rules: RuleSet, metrics: GatewayMetrics) -> Self {
        let mut client = Client::builder(TokioExecutor::new());
        client
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POOL_IDLE_TIMEOUT);
        client.http1_max_buf_size(MAX_HEAD_BYTES);
        let via = format!("1.1 tollgate-{}", random_id());
        Self {
            client: client.build(Connector::new(timeouts.upstream)),
            upstream,
            timeouts,
            rules,
            via: via.try_into().expect("letters and digits are a header value"),
            metrics,
            failures: LogThrottle::default(),
        }
    }

    /// Returns the upstream's response, or an error response.
    pub(crate) async fn forward(&self, request: Request<Incoming>) -> ServerResponse {
        let result = self.try_forward(request).await;
        if let Err(error @ (ProxyError::BadUpstream | ProxyError::UpstreamTimeout)) = result {
            self.failures.record(|failures| {
                tracing::warn!(
                    target: "tollgate::gateway",
                    upstream = %self.upstream,
                    error = error.name(),
                    failures,
                    "upstream requests fail: check that the service is running and reachable"
                );
            });
        }
        result.unwrap_or_else(ProxyError::into_response)
    }

    async fn try_forward(&self, mut request: Request<Incoming>) -> Result<ServerResponse, ProxyError> {
        if request.headers().get_all(VIA).iter().any(|via| self.is_own_via(via)) {
            return Err(ProxyError::LoopDetected);
        }
        let upgrade = WebSocketUpgrade::from_request(&mut request);
        headers::remove_hop_by_hop_from_request(request.headers_mut());
        let peer: Option<SocketAddr> = request.extensions().get().copied();
        let headers = request.headers_mut();
        sanitize_forwarded(headers, peer.map(|peer| peer.ip()), &self.rules.trusted_proxies());
        headers::add_forwarded_host_and_proto(headers);
        headers.append(VIA, self.via.clone());
        if upgrade.is_some() {
            WebSocketUpgrade::set_headers(headers);
        }
        let (response, upload) = self.send(request).await?;
        self.prepare_response(upgrade, response, upload)
    }

    async fn send(&self, request: Request<Incoming>) -> Result<(Response<Incoming>, UploadMonitor), ProxyError> {
        let (mut head, body) = request.into_parts();
        // The response holds the slots. The HTTP client may keep a request for longer.
        head.extensions.remove::<Permit>();
        let mut target = head.uri.into_parts();
        (target.scheme, target.authority) = (Some(Scheme::HTTP), Some(self.upstream.clone()));
        head.uri = Uri::from_parts(target).expect("a normalized path is valid");
        head.version = Version::HTTP_11;
        let has_no_body = body.is_end_stream();
        if !has_no_body && body.size_hint().exact().is_none() {
            // hyper adds it only to methods that usually have a body, and drops the body of others.
            head.headers
                .insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        let (body, mut upload) = RequestBody::new(body, head.extensions.remove::<UnreadBody>());
        // Avoids a `Transfer-Encoding` header for requests without a body.
        let body = if has_no_body { Body::empty() } else { Body::new(body) };
        let start = std::time::Instant::now();
        tokio::select! {
            response = self.client.request(Request::from_parts(head, body)) => {
                let response = response.map_err(|error| error::classify(&error))?;
                self.metrics.record_upstream_latency(start.elapsed());
                Ok((response, upload))
            }
            side = upload.timed_out(self.timeouts) => Err(match side {
                Side::Client => ProxyError::ClientTimeout,
                Side::Upstream => ProxyError::UpstreamTimeout,
            }),
        }
    }

    fn prepare_response(
        &self,
        upgrade: Option<WebSocketUpgrade>,
        mut response: Response<Incoming>,
        upload: UploadMonitor,
    ) -> Result<ServerResponse, ProxyError> {
        if headers::has_unsupported_transfer_coding(response.headers()) {
            return Err(ProxyError::BadUpstream);
        }
        *response.version_mut() = Version::HTTP_11;
        response.extensions_mut().insert(FromUpstream);
        let is_accepted = WebSocketUpgrade::is_accepted(&response);
        let is_informational = response.status().is_informational();
        headers::remove_hop_by_hop(response.headers_mut());
        match upgrade {
            Some(upgrade) if is_accepted => {
                upgrade.spawn_tunnel(&mut response, self.timeouts.upstream);
                WebSocketUpgrade::set_headers(response.headers_mut());
                Ok(response.map(|_| Body::empty()))
            }
            // The upstream switches to a protocol that the client has not requested.
            _ if is_informational => Err(ProxyError::BadUpstream),
            _ if response.body().is_end_stream() => Ok(response.map(|_| Body::empty())),
            _ => Ok(response.map(|body| Body::new(ResponseBody::new(body, self.timeouts.upstream, upload)))),
        }
    }

    fn is_own_via(&self, via: &HeaderValue) -> bool {
        let own = self.via.as_bytes();
        via.as_bytes().windows(own.len()).any(|window| window == own)
    }
}
