//! Who is at the other end of the socket.

use std::net::SocketAddr;

use http::Request;
use tollgate::{ClientIp, Header, KeyError, KeyExtractor};

use super::fixture::{X_FORWARDED_FOR, key, request, x_forwarded_for};

#[test]
fn a_peer_is_counted_by_its_address_and_not_by_its_port() {
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
fn ipv4_in_the_clothing_of_ipv6_is_ipv4() {
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
fn addresses_of_one_network_are_one_and_others_are_not() {
    let by = |peer| x_forwarded_for(&ClientIp::peer(), peer, &[]);
    assert_eq!(by("2001:db8:0:1::"), by("2001:db8:0:1:ffff:ffff:ffff:ffff"));
    assert_ne!(by("2001:db8:0:1::"), by("2001:db8:0:2::"));
    assert_ne!(by("192.0.2.1"), by("192.0.2.2"));
    assert_ne!(by("::192.0.2.1"), by("192.0.2.1"));
}

fn unserved() -> Request<()> {
    let mut request = request("192.0.2.1", &X_FORWARDED_FOR, ["203.0.113.9"]);
    request.extensions_mut().clear();
    request
}

const HOW: &str = "there is no peer address to count requests by: serve the router with \
    .into_make_service_with_connect_info::<SocketAddr>(), in tests add the layer MockConnectInfo(address), or insert a \
    SocketAddr into the request's extensions";

#[test]
fn a_request_without_a_peer_is_an_error_that_says_what_to_do() {
    for ip in [
        ClientIp::peer(),
        ClientIp::behind(["0.0.0.0/0"]),
        ClientIp::hops(0),
        ClientIp::hops(2),
        ClientIp::hops(1).forwarded(),
    ] {
        let error = ip.extract(&unserved()).unwrap_err();
        assert_eq!(error.to_string(), HOW);
        assert!(matches!(error, KeyError::NotProvided { .. }));
    }
}

/// A proxy may come through a socket that has no addresses.
#[test]
fn nobody_needs_a_peer_who_passed_through_enough_proxies() {
    assert_eq!(key(&ClientIp::hops(1), &unserved()), "ip:203.0.113.9");
}

/// Otherwise a service that was started wrongly would count everybody as one.
#[test]
fn nothing_stands_in_for_a_peer() {
    let client = Header::new("x-user-id").or(ClientIp::peer()).or("nobody");
    let error = client.extract(&unserved()).unwrap_err();
    assert_eq!(error.to_string(), HOW);
    assert_eq!((client, "all").extract(&unserved()), Err(error));
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

    /// A router that answers with whom it would count.
    fn telling() -> Router {
        let tell = |request: Request, _: Next| {
            let key = key(&ClientIp::peer(), &request);
            async move { key }
        };
        Router::new().layer(from_fn(tell))
    }

    #[test]
    fn the_peer_is_what_axum_says() {
        let request = |extension: ConnectInfo<SocketAddr>| http::Request::builder().extension(extension).body(());
        assert_eq!(
            key(&ClientIp::peer(), &request(ConnectInfo(PEER)).unwrap()),
            "ip:192.0.2.1"
        );
    }

    #[tokio::test]
    async fn the_peer_is_what_a_mock_says() {
        let router = telling().layer(MockConnectInfo(PEER));
        let answer = router.oneshot(Request::new(Body::empty())).await.unwrap();
        let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
        assert_eq!(body, "ip:192.0.2.1");
    }

    #[test]
    fn a_real_peer_counts_before_a_mock() {
        let mut request = http::Request::new(());
        request
            .extensions_mut()
            .insert(MockConnectInfo(SocketAddr::from(([203, 0, 113, 9], 1))));
        request.extensions_mut().insert(ConnectInfo(PEER));
        assert_eq!(key(&ClientIp::peer(), &request), "ip:192.0.2.1");
    }

    #[tokio::test]
    async fn the_peer_of_a_served_router_is_whoever_connected() {
        let server = Server::start(telling()).await;
        let request = server.request("/").header("x-forwarded-for", "203.0.113.9");
        assert_eq!(Reply::to(request).await.body, "ip:127.0.0.1");
    }
}
