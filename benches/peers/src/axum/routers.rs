//! An axum router with different layers, called without a network.

use std::{net::SocketAddr, time::Duration};

use axum::{
    Router,
    body::Body,
    extract::{ConnectInfo, Request},
    http::HeaderMap,
    routing::get,
};
use tollgate::{ClientIp, HttpResponder, MemoryStore, Quota, RateLimitLayer, TokenBucket};
use tower::{Service, ServiceExt};
use tower_governor::{GovernorLayer, governor::GovernorConfigBuilder};

/// The number of clients, and the limit of each per hour: in the hundreds like most limits, and in total more than the
/// benchmark sends.
pub const CLIENTS: u32 = 20_000;
pub const LIMIT: u32 = 999;

pub fn plain() -> Router {
    Router::new().route("/", get(async || "hello"))
}

/// Our layer, with its default headers.
pub fn layer(store: MemoryStore) -> RateLimitLayer<TokenBucket, ClientIp, MemoryStore> {
    RateLimitLayer::token_bucket("client", Quota::per_hour(LIMIT), ClientIp::peer(), store)
}

pub fn with_x_headers(store: MemoryStore) -> Router {
    plain().layer(layer(store).respond_with(HttpResponder::new().without_ietf_headers()))
}

pub fn with_tower_governor() -> Router {
    let mut config = GovernorConfigBuilder::default();
    let config = config
        .period(Duration::from_secs(3600) / LIMIT)
        .burst_size(LIMIT)
        .use_headers()
        .finish();
    plain().layer(GovernorLayer::new(config.expect("a valid configuration")))
}

/// Calls the service like a server that has accepted a connection from a client.
pub async fn call(service: &mut Router, turn: u32) -> HeaderMap {
    let mut request = Request::new(Body::empty());
    let [_, _, third, fourth] = (turn % CLIENTS).to_be_bytes();
    let peer = SocketAddr::from(([10, 0, third, fourth], 1234));
    request.extensions_mut().insert(ConnectInfo(peer));
    let service = <Router as ServiceExt<Request>>::ready(service)
        .await
        .expect("a ready service");
    let response = service.call(request).await.expect("an infallible service");
    assert!(response.status().is_success());
    response.into_parts().0.headers
}
