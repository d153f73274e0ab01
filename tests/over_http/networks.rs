//! Requests that are exempt or blocked by their client's network.

use std::net::SocketAddr;

use axum::extract::connect_info::MockConnectInfo;
use tollgate::{ClientIp, Global, Quota, RateLimitLayer, extract::InNetworks};

use crate::over_http::{
    filters::{is, is_blocked, send},
    fixture::{NOTHING, Reply, Server, TestStore, on_both_stores, scripted_app},
};

on_both_stores![
    a_network_is_exempt_or_blocked,
    networks_apply_to_the_client_behind_trusted_proxies,
    an_ipv4_mapped_address_is_the_ipv4_address,
    a_missing_peer_address_is_neither_exempt_nor_past_the_block_list,
    a_hidden_client_address_is_neither_exempt_nor_past_the_block_list,
];

/// A layer that exempts some networks and blocks others.
async fn filtered<St: TestStore>(own: InNetworks, others: InNetworks) -> Server {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(100), Global, store)
        .exempt(own)
        .block(others);
    Server::start(scripted_app().layer(layer)).await
}

async fn a_network_is_exempt_or_blocked<St: TestStore>() {
    let peer = ClientIp::peer;
    for (own, others, status) in [
        (&["127.0.0.0/8"][..], &["10.0.0.0/8"][..], 200),
        (&["10.0.0.0/8", "127.0.0.1"], &[], 200),
        (&["10.0.0.0/8"], &["127.0.0.1"], 403),
        (&["127.0.0.1"], &["fd00::/8", "127.0.0.1/32"], 403),
    ] {
        let server = filtered::<St>(peer().in_networks(own), peer().in_networks(others)).await;
        // A header that the client sends does not matter.
        let reply = Reply::to(server.request("/").header("x-forwarded-for", "203.0.113.1")).await;
        assert_eq!(reply.all(), (status, "-".into(), NOTHING.into()), "{own:?} {others:?}");
    }
    let server = filtered::<St>(
        peer().in_networks(["10.0.0.0/8", "127.0.0.2"]),
        peer().in_networks(["::1"]),
    )
    .await;
    assert_eq!(server.get("/").await.remaining(), "99");
}

/// The status and what remains after a request that a proxy forwards from this address.
async fn forwarded(server: &Server, from: &str) -> (u16, String) {
    let reply = Reply::to(server.request("/").header("x-forwarded-for", from)).await;
    (reply.status, reply.remaining())
}

async fn networks_apply_to_the_client_behind_trusted_proxies<St: TestStore>() {
    let client = || ClientIp::trusted_proxies(["127.0.0.0/8"]);
    let own = client().in_networks(["10.0.0.0/8", "2001:db8:1::/48"]);
    let others = client().in_networks(["203.0.113.0/24", "2001:db8:bad::/48", "198.51.100.7"]);
    let server = filtered::<St>(own, others).await;
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
        // Entries that the client sent before the proxy's own do not matter.
        ("10.1.2.3, 198.51.100.8", 200, true),
        ("10.1.2.3, 203.0.113.1", 403, false),
        ("203.0.113.1, 198.51.100.8", 200, true),
    ] {
        left -= u32::from(counted);
        let remaining = if counted { left.to_string() } else { "-".into() };
        assert_eq!(forwarded(&server, from).await, (status, remaining), "{from}");
    }
}

async fn an_ipv4_mapped_address_is_the_ipv4_address<St: TestStore>() {
    let client = || ClientIp::trusted_proxies(["127.0.0.0/8"]);
    let own = client().in_networks(["::ffff:10.0.0.0/104"]);
    let server = filtered::<St>(own, client().in_networks(["203.0.113.0/24"])).await;
    for (from, status) in [
        ("10.1.2.3", 200),
        ("::ffff:10.1.2.3", 200),
        ("203.0.113.1", 403),
        ("::ffff:203.0.113.1", 403),
        ("[::ffff:cb00:7101]:80", 403),
    ] {
        assert_eq!(forwarded(&server, from).await, (status, "-".into()), "{from}");
    }
    // A dual-stack socket reports IPv4 peers like this.
    for (peer, status, remaining) in [
        ("[::ffff:203.0.113.1]:1", 403, "-"),
        ("[::ffff:10.0.0.1]:1", 200, "-"),
        ("[2001:db8::1]:1", 200, "99"),
    ] {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(100), Global, store)
            .exempt(ClientIp::peer().in_networks(["10.0.0.0/8"]))
            .block(ClientIp::peer().in_networks(["203.0.113.0/24"]));
        let peer: SocketAddr = peer.parse().unwrap();
        let server = Server::start_without_peers(scripted_app().layer(layer).layer(MockConnectInfo(peer))).await;
        let reply = server.get("/").await;
        assert_eq!(
            (reply.status, reply.remaining().as_str()),
            (status, remaining),
            "{peer}"
        );
    }
}

async fn a_missing_peer_address_is_neither_exempt_nor_past_the_block_list<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer =
        |name| RateLimitLayer::fixed_window(name, Quota::per_minute(1), Global, store.clone()).exempt(is("staff"));
    let networks = || ClientIp::peer().in_networks(["203.0.113.0/24"]);
    let app = scripted_app().layer(layer("a").block(networks()).block(is("bot")));
    let server = Server::start_without_peers(app).await;
    for what in ["user", "staff"] {
        let reply = send(&server, what).await;
        assert_eq!(reply.all(), (500, "-".into(), NOTHING.into()), "{what}");
        assert_eq!(reply.json()["error"], "rate_limiter_misconfigured", "{what}");
    }
    // This request is known to be blocked.
    is_blocked(&send(&server, "bot").await);
    // Nor is a request without an address exempt.
    let server = Server::start_without_peers(scripted_app().layer(layer("b").exempt(networks()))).await;
    assert_eq!(send(&server, "user").await.status, 500);
}

/// A client whose address its proxy hides is not taken for the proxy.
async fn a_hidden_client_address_is_neither_exempt_nor_past_the_block_list<St: TestStore>() {
    let behind = || ClientIp::trusted_proxies(["127.0.0.0/8"]).forwarded();
    let hops = || ClientIp::trusted_hops(2).forwarded();
    let send = async |server: &Server, forwarded: Option<&str>| {
        let request = server.request("/");
        let request = forwarded.map_or(server.request("/"), |forwarded| request.header("forwarded", forwarded));
        let reply = Reply::to(request).await;
        (reply.status, reply.remaining())
    };
    for (client, forwarded, exempt, denied) in [
        (behind(), Some("for=_hidden"), (200, "99"), 400),
        (behind(), Some("for=10.0.0.1, for=unknown"), (200, "99"), 400),
        // The request is the proxy's own.
        (behind(), None, (200, "-"), 403),
        (behind(), Some("for=10.0.0.1"), (200, "99"), 200),
        (hops(), None, (200, "99"), 400),
        (hops(), Some("for=127.0.0.1"), (200, "99"), 400),
        (hops(), Some("for=127.0.0.1, for=_hidden"), (200, "99"), 400),
        (hops(), Some("for=127.0.0.1, for=10.0.0.1"), (200, "-"), 403),
    ] {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(100), Global, store);
        let within = client.clone().in_networks(["127.0.0.0/8"]);
        let server = Server::start(scripted_app().layer(layer.clone().exempt(within.clone()))).await;
        let (status, remaining) = send(&server, forwarded).await;
        assert_eq!((status, remaining.as_str()), exempt, "{client:?} {forwarded:?}");
        let server = Server::start(scripted_app().layer(layer.block(within))).await;
        assert_eq!(send(&server, forwarded).await.0, denied, "{client:?} {forwarded:?}");
    }
}
