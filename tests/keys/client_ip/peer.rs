//! The peer address of the socket.

use std::net::SocketAddr;

use http::Request;
use tollgate::{ClientIp, Header, KeyError, KeyExtractor};

use super::fixture::{X_FORWARDED_FOR, key, request, x_forwarded_for};

#[test]
fn a_peer_is_counted_by_address_without_port() {
    for port in [0, 1, 65535] {
        let mut request = Request::new(());
        request
            .extensions_mut()
            .insert(SocketAddr::from(([192, 0, 2, 1], port)));
        assert_eq!(key(&ClientIp::peer(), &request), "ip:192.0.2.1");
    }
}

#[test]
fn nothing_in_the_request_changes_the_peer() {
    for header in [
        "x-forwarded-for",
        "forwarded",
        "x-real-ip",
        "cf-connecting-ip",
        "true-client-ip",
    ] {
        let request = request(
            "192.0.2.1",
            &header.parse().unwrap(),
            ["203.0.113.9", "for=203.0.113.9"],
        );
        assert_eq!(key(&ClientIp::peer(), &request), "ip:192.0.2.1");
        assert_eq!(key(&ClientIp::peer().forwarded(), &request), "ip:192.0.2.1");
    }
}

#[test]
fn an_ipv4_mapped_peer_is_ipv4() {
    for peer in ["192.0.2.1", "::ffff:192.0.2.1", "::ffff:c000:201"] {
        assert_eq!(x_forwarded_for(&ClientIp::peer(), peer, &[]), "ip:192.0.2.1");
        assert_eq!(
            x_forwarded_for(&ClientIp::peer().ipv6_prefix(128), peer, &[]),
            "ip:192.0.2.1"
        );
    }
}

#[test]
fn ipv6_is_counted_by_its_network() {
    let peer = "2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff";
    assert_eq!(
        x_forwarded_for(&ClientIp::peer(), peer, &[]),
        "ip:[2001:db8:aaaa:bbbb::]/64"
    );
    let cases = [
        (1, "ip:[::]/1"),
        (4, "ip:[2000::]/4"),
        (32, "ip:[2001:db8::]/32"),
        (48, "ip:[2001:db8:aaaa::]/48"),
        (56, "ip:[2001:db8:aaaa:bb00::]/56"),
        (64, "ip:[2001:db8:aaaa:bbbb::]/64"),
        (65, "ip:[2001:db8:aaaa:bbbb:8000::]/65"),
        (127, "ip:[2001:db8:aaaa:bbbb:cccc:dddd:eeee:fffe]/127"),
        (128, "ip:[2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff]"),
    ];
    for (bits, text) in cases {
        assert_eq!(x_forwarded_for(&ClientIp::peer().ipv6_prefix(bits), peer, &[]), text);
    }
}

#[test]
fn addresses_of_one_network_share_a_key() {
    let by = |peer| x_forwarded_for(&ClientIp::peer(), peer, &[]);
    assert_eq!(by("2001:db8:0:1::"), by("2001:db8:0:1:ffff:ffff:ffff:ffff"));
    assert_ne!(by("2001:db8:0:1::"), by("2001:db8:0:2::"));
    assert_ne!(by("192.0.2.1"), by("192.0.2.2"));
    assert_ne!(by("::192.0.2.1"), by("192.0.2.1"));
}

fn without_peer() -> Request<()> {
    let mut request = request("192.0.2.1", &X_FORWARDED_FOR, ["203.0.113.9"]);
    request.extensions_mut().clear();
    request
}

const MISSING_PEER: &str = "there is no peer address to count requests by: serve the router with \
    .into_make_service_with_connect_info::<SocketAddr>(), in tests add the layer MockConnectInfo(address), or insert a \
    SocketAddr into the request's extensions";

#[test]
fn a_missing_peer_is_an_error_that_explains_the_setup() {
    for ip in [
        ClientIp::peer(),
        ClientIp::trusted_proxies(["0.0.0.0/0"]),
        ClientIp::trusted_hops(0),
        ClientIp::trusted_hops(2),
        ClientIp::trusted_hops(1).forwarded(),
    ] {
        let error = ip.extract(&without_peer()).unwrap_err();
        assert_eq!(error.to_string(), MISSING_PEER);
        assert!(matches!(error, KeyError::NotProvided { .. }));
    }
}

/// A proxy may connect over a socket that has no addresses.
#[test]
fn a_request_with_enough_hops_needs_no_peer() {
    assert_eq!(key(&ClientIp::trusted_hops(1), &without_peer()), "ip:203.0.113.9");
}

/// Otherwise a misconfigured service would count every client under one key.
#[test]
fn no_default_key_replaces_a_missing_peer() {
    let client = Header::new("x-user-id").or(ClientIp::peer()).or("anonymous");
    let error = client.extract(&without_peer()).unwrap_err();
    assert_eq!(error.to_string(), MISSING_PEER);
    assert_eq!((client, "all").extract(&without_peer()), Err(error));
}

#[cfg(feature = "axum")]
mod with_axum {
    use axum::{
        Router,
        body::{Body, to_bytes},
        extract::{ConnectInfo, Request, connect_info::MockConnectInfo},
        middleware::{Next, from_fn},
    };
    use tower::ServiceExt;

    use super::*;
    use support::http::{Reply, Server};

    const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)), 4711);

    /// A router that responds with the key of each request.
    fn key_app() -> Router {
        let respond = |request: Request, _: Next| {
            let key = key(&ClientIp::peer(), &request);
            async move { key }
        };
        Router::new().layer(from_fn(respond))
    }

    #[test]
    fn the_peer_is_the_connect_info_of_axum() {
        let request = |extension: ConnectInfo<SocketAddr>| http::Request::builder().extension(extension).body(());
        assert_eq!(
            key(&ClientIp::peer(), &request(ConnectInfo(PEER)).unwrap()),
            "ip:192.0.2.1"
        );
    }

    #[tokio::test]
    async fn the_peer_is_a_mock_connect_info() {
        let router = key_app().layer(MockConnectInfo(PEER));
        let response = router.oneshot(Request::new(Body::empty())).await.unwrap();
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        assert_eq!(body, "ip:192.0.2.1");
    }

    #[test]
    fn a_real_peer_overrides_a_mock() {
        let mut request = http::Request::new(());
        request
            .extensions_mut()
            .insert(MockConnectInfo(SocketAddr::from(([203, 0, 113, 9], 1))));
        request.extensions_mut().insert(ConnectInfo(PEER));
        assert_eq!(key(&ClientIp::peer(), &request), "ip:192.0.2.1");
    }

    #[tokio::test]
    async fn the_peer_of_a_served_router_is_the_connected_client() {
        let server = Server::start(key_app()).await;
        let request = server.request("/").header("x-forwarded-for", "203.0.113.9");
        assert_eq!(Reply::to(request).await.body, "ip:127.0.0.1");
    }
}
