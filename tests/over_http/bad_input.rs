//! Any client input gets a response, and is never counted under another client's key.

use axum::{Router, routing::get};
use tollgate::{ApiKey, ClientIp, FromExtension, Header, Key, KeyExtractor, Quota, RateLimitLayer};

use crate::over_http::fixture::{NOTHING, Reply, Server, TestStore, on_both_stores};

on_both_stores![
    a_request_without_its_header_is_rejected_with_the_header_name,
    a_missing_peer_address_is_an_error_that_explains_the_setup,
    a_missing_extension_does_not_disclose_its_type,
    no_two_identities_share_a_limit,
    a_forwarding_header_is_trusted_as_far_as_its_proxies,
    a_thousand_hops_are_evaluated_like_one,
    too_many_headers_are_rejected_by_hyper,
];

/// One request per minute and key.
async fn serve<St: TestStore, K>(key: K) -> Server
where
    K: KeyExtractor<axum::extract::Request> + Clone + Send + Sync + 'static,
{
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(1), key, store);
    Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await
}

async fn a_request_without_its_header_is_rejected_with_the_header_name<St: TestStore>() {
    let server = serve::<St, _>(Header::new("X-User-Id")).await;
    let missing = r#"{"error":"rate_limit_key_missing","message":"the request lacks the `x-user-id` header"}"#;
    for request in [server.request("/"), server.request("/").header("x-user-id", "")] {
        let reply = Reply::to(request).await;
        assert_eq!(reply.all(), (400, "-".into(), NOTHING.into()));
        assert_eq!(reply.header("content-type"), "application/json");
        assert_eq!(reply.body, missing);
    }
    assert_eq!(server.get_as("a").await.status, 200);

    let server = serve::<St, _>(ApiKey::bearer()).await;
    for authorization in ["Basic YTpi", "Bearer", "Bearer ", "Bear a"] {
        let reply = Reply::to(server.request("/").header("authorization", authorization)).await;
        assert_eq!(reply.status, 400, "{authorization}");
        let message = "the request lacks an `authorization` header with a bearer token";
        assert_eq!(reply.json()["message"], message, "{authorization}");
    }
    let reply = Reply::to(server.request("/").header("authorization", "bearer abc")).await;
    assert_eq!(reply.status, 200);
}

async fn a_missing_peer_address_is_an_error_that_explains_the_setup<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = |key| RateLimitLayer::fixed_window("api", Quota::per_minute(1), key, store.clone());
    // A default key replaces a missing header. A missing peer address is the service's fault, with any default key.
    let user = Header::new("x-user-id").or(ClientIp::peer()).or("anonymous");
    let by_user = RateLimitLayer::fixed_window("api", Quota::per_minute(1), user, store.clone());
    let app = Router::new()
        .route("/peer", get(async || "done").layer(layer(ClientIp::peer())))
        .route(
            "/behind",
            get(async || "done").layer(layer(ClientIp::trusted_proxies(["10.0.0.0/8"]))),
        )
        .route("/hops", get(async || "done").layer(layer(ClientIp::trusted_hops(1))))
        .route("/user", get(async || "done").layer(by_user));
    let server = Server::start_without_peers(app).await;
    for path in ["/peer", "/behind", "/hops", "/user"] {
        let reply = server.get(path).await;
        assert_eq!(reply.all(), (500, "-".into(), NOTHING.into()), "{path}");
        assert_eq!(reply.json()["error"], "rate_limiter_misconfigured", "{path}");
        let message = "there is no peer address to count requests by: serve the router with \
                       .into_make_service_with_connect_info::<SocketAddr>(), in tests add the layer \
                       MockConnectInfo(address), or insert a SocketAddr into the request's extensions";
        assert_eq!(reply.json()["message"], message, "{path}");
    }
    // Requests that are not counted by peer address do not need one.
    for (path, header, value) in [("/user", "x-user-id", "a"), ("/hops", "x-forwarded-for", "203.0.113.1")] {
        let reply = Reply::to(server.request(path).header(header, value)).await;
        assert_eq!(reply.status, 200, "{path}");
    }
}

async fn a_missing_extension_does_not_disclose_its_type<St: TestStore>() {
    #[derive(Clone)]
    struct Session;
    let (store, _) = St::fresh();
    let key = FromExtension::new(|_: &Session| Key::new("session"));
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(1), key, store);
    let server = Server::start(Router::new().route("/", get(async || "done").layer(layer))).await;
    let reply = server.get("/").await;
    assert_eq!(reply.all(), (500, "-".into(), NOTHING.into()));
    let message = "The service does not provide the key that this request is counted by.";
    assert_eq!(reply.json()["message"], message);
}

/// Values that are similar, that have a meaning in keys, or that are not UTF-8.
fn identities() -> Vec<Vec<u8>> {
    let texts = [
        "a",
        "A",
        "a:b",
        "a:",
        ":a",
        ":",
        "::",
        "{a}",
        "{}",
        "{",
        "}",
        "a}b{",
        "(a)",
        "#",
        "#a",
        "~a",
        "~anonymous",
        "anonymous",
        "global",
        "ip:127.0.0.1",
        "127.0.0.1",
        "a b",
        "a  b",
        "a\tb",
        "a,b",
        "a, b",
        "%61",
        "*",
        "?",
        "[a]",
        "\"",
        "\\",
        "'",
        "a/b",
        "../a",
        "a\\0",
        "null",
        "0",
        "00",
        "-1",
        "x-user-id:a",
        // The digest under which `a:b` is stored.
        "#6783a31eabf68ccc0660f935c0826282",
        "6783a31eabf68ccc0660f935c0826282",
    ];
    let mut identities: Vec<Vec<u8>> = texts.map(Into::into).into();
    identities.extend([
        vec![0x80],
        vec![0x80, 0x80],
        vec![0xff],
        vec![0xc3],
        "ü".into(),
        "\u{fffd}".into(),
    ]);
    identities.extend([64, 65, 66, 8000, 60_000].map(|length| vec![b'x'; length]));
    identities.push([vec![b'x'; 59_999], vec![b'y']].concat());
    identities
}

async fn no_two_identities_share_a_limit<St: TestStore>() {
    let server = serve::<St, _>(Header::new("x-user-id").or("anonymous")).await;
    for status in [200, 429] {
        for identity in identities() {
            let shown = String::from_utf8_lossy(&identity[..identity.len().min(66)]).into_owned();
            let reply = Reply::to(server.request("/").header("x-user-id", identity)).await;
            assert_eq!(reply.status, status, "{shown:?}");
        }
        assert_eq!(server.get("/").await.status, status);
    }
}

async fn a_forwarding_header_is_trusted_as_far_as_its_proxies<St: TestStore>() {
    let server = serve::<St, _>(ClientIp::trusted_proxies(["127.0.0.0/8", "10.0.0.0/8"])).await;
    let forwarded: [(&[&[u8]], u16); 14] = [
        (&[b"203.0.113.1"], 200),
        // The proxy's entry is the client, regardless of what the client claims before it.
        (&[b"198.51.100.1, 203.0.113.1"], 429),
        (&[b"198.51.100.1", b"203.0.113.1"], 429),
        (&[b"203.0.113.2, 203.0.113.1, 10.1.2.3"], 429),
        (&[b"203.0.113.2", b"203.0.113.1", b"10.1.2.3, 10.3.2.1"], 429),
        (&[b"\x80\xff, 203.0.113.1"], 429),
        (&[b"\"203.0.113.9, 203.0.113.1"], 429),
        (&[b"203.0.113.2"], 200),
        // An unreadable entry ends the trusted chain: the last proxy is counted, which is the peer here.
        (&[b"203.0.113.3, \x80\xff"], 200),
        (&[b"203.0.113.4, unknown"], 429),
        (&[b"203.0.113.5,"], 429),
        (&[], 429),
        (&[b"2001:db8:1:2::3"], 200),
        (&[b"[2001:db8:1:2:ffff::4]:80"], 429),
    ];
    for (lines, status) in forwarded {
        let mut request = server.request("/");
        for &line in lines {
            request = request.header("x-forwarded-for", line);
        }
        assert_eq!(Reply::to(request).await.status, status, "{lines:?}");
    }
}

async fn a_thousand_hops_are_evaluated_like_one<St: TestStore>() {
    let thousand = |hop: &str| vec![hop; 1000].join(", ");
    let server = serve::<St, _>(ClientIp::trusted_proxies(["127.0.0.0/8", "10.0.0.0/8"])).await;
    for (line, status) in [
        ("203.0.113.1".into(), 200),
        (format!("203.0.113.1, {}", thousand("10.0.0.1")), 429),
        (format!("{}, 203.0.113.1", thousand("203.0.113.9")), 429),
        (thousand("203.0.113.2"), 200),
        ("203.0.113.2".into(), 429),
        // All are trusted, so the farthest one is the client.
        (format!("10.9.9.9, {}", thousand("10.0.0.1")), 200),
        ("10.9.9.9".into(), 429),
        (thousand("x"), 200),
        (",".repeat(1000), 429),
    ] {
        let request = server.request("/").header("x-forwarded-for", &line);
        assert_eq!(Reply::to(request).await.status, status, "{line}");
    }
    let server = serve::<St, _>(ClientIp::trusted_hops(1001)).await;
    for (line, status) in [
        (format!("203.0.113.1, {}", thousand("203.0.113.2")), 200),
        (format!("203.0.113.3, 203.0.113.1, {}", thousand("203.0.113.2")), 429),
        // There are fewer entries than trusted hops, so the peer is counted.
        (thousand("203.0.113.1"), 200),
        ("203.0.113.4".into(), 429),
    ] {
        let request = server.request("/").header("x-forwarded-for", &line);
        assert_eq!(Reply::to(request).await.status, status, "{line}");
    }
}

async fn too_many_headers_are_rejected_by_hyper<St: TestStore>() {
    let server = serve::<St, _>(Header::new("x-user-id")).await;
    let mut request = server.request("/").header("x-user-id", "a");
    for n in 0..150 {
        request = request.header(format!("x-{n}"), "");
    }
    // hyper responds before any layer is called.
    let reply = Reply::to(request).await;
    assert_eq!(reply.all(), (431, "-".into(), NOTHING.into()));
    assert_eq!(server.get_as("a").await.status, 200);
}
