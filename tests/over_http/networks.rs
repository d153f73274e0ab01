//! Requests that pass, or do not, by the network that they come from.

use std::net::SocketAddr;

use axum::extract::connect_info::MockConnectInfo;
use tollgate::{ClientIp, Global, Quota, RateLimitLayer, extract::Within};

use crate::over_http::{
    fixture::{NOTHING, Reply, Server, TestStore, on_both_stores},
    handlers::obliging,
    screening::{ask, is, is_denied},
};

on_both_stores![
    a_network_is_exempt_or_denied,
    a_network_is_looked_for_behind_trusted_proxies,
    an_address_in_other_clothing_is_the_same_address,
    whoever_cannot_be_told_from_the_denied_does_not_pass,
    whoever_hides_is_neither_exempt_nor_told_from_the_denied,
];

/// A layer that knows one's own networks and those of others.
async fn screened<St: TestStore>(own: Within, others: Within) -> Server {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(100), Global, store)
        .exempt(own)
        .deny(others);
    Server::start(obliging().layer(layer)).await
}

async fn a_network_is_exempt_or_denied<St: TestStore>() {
    let peer = ClientIp::peer;
    for (own, others, status) in [
        (&["127.0.0.0/8"][..], &["10.0.0.0/8"][..], 200),
        (&["10.0.0.0/8", "127.0.0.1"], &[], 200),
        (&["10.0.0.0/8"], &["127.0.0.1"], 403),
        (&["127.0.0.1"], &["fd00::/8", "127.0.0.1/32"], 403),
    ] {
        let server = screened::<St>(peer().within(own), peer().within(others)).await;
        // What a client says of itself does not matter.
        let reply = Reply::to(server.request("/").header("x-forwarded-for", "203.0.113.1")).await;
        assert_eq!(reply.all(), (status, "-".into(), NOTHING.into()), "{own:?} {others:?}");
    }
    let server = screened::<St>(peer().within(["10.0.0.0/8", "127.0.0.2"]), peer().within(["::1"])).await;
    assert_eq!(server.get("/").await.remaining(), "99");
}

/// What becomes of a request from this address, by the word of a proxy.
async fn forwarded(server: &Server, from: &str) -> (u16, String) {
    let reply = Reply::to(server.request("/").header("x-forwarded-for", from)).await;
    (reply.status, reply.remaining())
}

async fn a_network_is_looked_for_behind_trusted_proxies<St: TestStore>() {
    let client = || ClientIp::behind(["127.0.0.0/8"]);
    let own = client().within(["10.0.0.0/8", "2001:db8:1::/48"]);
    let others = client().within(["203.0.113.0/24", "2001:db8:bad::/48", "198.51.100.7"]);
    let server = screened::<St>(own, others).await;
    let mut left = 100;
    for (from, status, counted) in [
        ("10.1.2.3", 200, false),
        ("2001:db8:1:2::3", 200, false),
        ("[2001:db8:1:2::3]:4711", 200, false),
        ("203.0.113.255", 403, false),
        ("2001:db8:bad:ffff::", 403, false),
        ("198.51.100.7", 403, false),
        ("198.51.100.8", 200, true),
        ("203.0.114.0", 200, true),
        ("2001:db8:2::1", 200, true),
        // What a client has claimed before the proxy saw it does not matter.
        ("10.1.2.3, 198.51.100.8", 200, true),
        ("10.1.2.3, 203.0.113.1", 403, false),
        ("203.0.113.1, 198.51.100.8", 200, true),
    ] {
        left -= u32::from(counted);
        let told = if counted { left.to_string() } else { "-".into() };
        assert_eq!(forwarded(&server, from).await, (status, told), "{from}");
    }
}

async fn an_address_in_other_clothing_is_the_same_address<St: TestStore>() {
    let client = || ClientIp::behind(["127.0.0.0/8"]);
    let own = client().within(["::ffff:10.0.0.0/104"]);
    let server = screened::<St>(own, client().within(["203.0.113.0/24"])).await;
    for (from, status) in [
        ("10.1.2.3", 200),
        ("::ffff:10.1.2.3", 200),
        ("203.0.113.1", 403),
        ("::ffff:203.0.113.1", 403),
        ("[::ffff:cb00:7101]:80", 403),
    ] {
        assert_eq!(forwarded(&server, from).await, (status, "-".into()), "{from}");
    }
    // A socket that listens to both kinds tells of IPv4 like this.
    for (peer, status, remaining) in [
        ("[::ffff:203.0.113.1]:1", 403, "-"),
        ("[::ffff:10.0.0.1]:1", 200, "-"),
        ("[2001:db8::1]:1", 200, "99"),
    ] {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(100), Global, store)
            .exempt(ClientIp::peer().within(["10.0.0.0/8"]))
            .deny(ClientIp::peer().within(["203.0.113.0/24"]));
        let peer: SocketAddr = peer.parse().unwrap();
        let server = Server::start_without_peers(obliging().layer(layer).layer(MockConnectInfo(peer))).await;
        let reply = server.get("/").await;
        assert_eq!(
            (reply.status, reply.remaining().as_str()),
            (status, remaining),
            "{peer}"
        );
    }
}

async fn whoever_cannot_be_told_from_the_denied_does_not_pass<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer =
        |name| RateLimitLayer::fixed_window(name, Quota::per_minute(1), Global, store.clone()).exempt(is("staff"));
    let networks = || ClientIp::peer().within(["203.0.113.0/24"]);
    let app = obliging().layer(layer("a").deny(networks()).deny(is("bot")));
    let server = Server::start_without_peers(app).await;
    for what in ["user", "staff"] {
        let reply = ask(&server, what).await;
        assert_eq!(reply.all(), (500, "-".into(), NOTHING.into()), "{what}");
        assert_eq!(reply.json()["error"], "rate_limiter_misconfigured", "{what}");
    }
    // Of this one it is known.
    is_denied(&ask(&server, "bot").await);
    // Nor is anybody taken for one of ours.
    let server = Server::start_without_peers(obliging().layer(layer("b").exempt(networks()))).await;
    assert_eq!(ask(&server, "user").await.status, 500);
}

/// A client whom its proxy does not name is not taken for the proxy.
async fn whoever_hides_is_neither_exempt_nor_told_from_the_denied<St: TestStore>() {
    let behind = || ClientIp::behind(["127.0.0.0/8"]).forwarded();
    let hops = || ClientIp::hops(2).forwarded();
    let ask = async |server: &Server, forwarded: Option<&str>| {
        let request = server.request("/");
        let request = forwarded.map_or(server.request("/"), |forwarded| request.header("forwarded", forwarded));
        let reply = Reply::to(request).await;
        (reply.status, reply.remaining())
    };
    for (client, forwarded, exempt, denied) in [
        (behind(), Some("for=_hidden"), (200, "99"), 400),
        (behind(), Some("for=10.0.0.1, for=unknown"), (200, "99"), 400),
        // Nobody but the proxy is there.
        (behind(), None, (200, "-"), 403),
        (behind(), Some("for=10.0.0.1"), (200, "99"), 200),
        (hops(), None, (200, "99"), 400),
        (hops(), Some("for=127.0.0.1"), (200, "99"), 400),
        (hops(), Some("for=127.0.0.1, for=_hidden"), (200, "99"), 400),
        (hops(), Some("for=127.0.0.1, for=10.0.0.1"), (200, "-"), 403),
    ] {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(100), Global, store);
        let within = client.clone().within(["127.0.0.0/8"]);
        let server = Server::start(obliging().layer(layer.clone().exempt(within.clone()))).await;
        let told = ask(&server, forwarded).await;
        assert_eq!((told.0, told.1.as_str()), exempt, "{client:?} {forwarded:?}");
        let server = Server::start(obliging().layer(layer.deny(within))).await;
        assert_eq!(ask(&server, forwarded).await.0, denied, "{client:?} {forwarded:?}");
    }
}
