//! The statements of docs/guide/migrating.md about tower_governor and tollgate.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use axum::extract::ConnectInfo;
use http::Request;
use tollgate::{ClientIp, Key, KeyExtractor, Limit, MemoryStore, Quota, TokenBucket};
use tower_governor::{
    governor::{GovernorConfig, GovernorConfigBuilder},
    key_extractor::{KeyExtractor as GovernorKey, PeerIpKeyExtractor, SmartIpKeyExtractor},
};

use support::project::example;

use crate::examples::{Server, header};

#[test]
fn per_second_of_tower_governor_is_a_number_of_seconds() {
    let debug = |builder: &mut GovernorConfigBuilder<_, _>| format!("{builder:?}");
    let two_seconds = debug(GovernorConfigBuilder::default().period(Duration::from_secs(2)));
    assert_eq!(debug(GovernorConfigBuilder::default().per_second(2)), two_seconds);
    assert_eq!(
        debug(GovernorConfigBuilder::default().per_millisecond(2000)),
        two_seconds
    );
    assert_eq!(
        debug(GovernorConfigBuilder::default().per_nanosecond(2_000_000_000)),
        two_seconds
    );
    let eight_by_half_a_second = debug(GovernorConfigBuilder::default().per_millisecond(500).burst_size(8));
    assert_eq!(debug(&mut GovernorConfigBuilder::default()), eight_by_half_a_second);
}

#[test]
fn an_invalid_quota_is_none_in_tower_governor_and_an_error_in_tollgate() {
    assert!(GovernorConfigBuilder::default().per_second(0).finish().is_none());
    assert!(GovernorConfigBuilder::default().burst_size(0).finish().is_none());
    let error = Quota::try_new(1, Duration::ZERO).unwrap_err();
    assert_eq!(error.field(), "window");
}

/// A request from 198.51.100.9 with a forged forwarded address.
fn request() -> Request<()> {
    let peer: SocketAddr = "198.51.100.9:4711".parse().unwrap();
    let request = Request::builder().header("x-forwarded-for", "203.0.113.7");
    request.extension(ConnectInfo(peer)).body(()).unwrap()
}

#[test]
fn the_smart_ip_of_tower_governor_trusts_a_forged_header() {
    let ip = |ip: &str| ip.parse::<IpAddr>().unwrap();
    assert_eq!(SmartIpKeyExtractor.extract(&request()).unwrap(), ip("203.0.113.7"));
    assert_eq!(PeerIpKeyExtractor.extract(&request()).unwrap(), ip("198.51.100.9"));
    for ours in [ClientIp::peer(), ClientIp::trusted_proxies(["10.0.0.0/8"])] {
        let key = ours.extract(&request()).unwrap();
        assert_eq!(key, Key::named("ip", "198.51.100.9"));
    }
    let trusting = ClientIp::trusted_proxies(["198.51.100.0/24"])
        .extract(&request())
        .unwrap();
    assert_eq!(trusting, Key::named("ip", "203.0.113.7"));
}

#[test]
fn tower_governor_does_not_evict_keys_and_tollgate_does() {
    let config = GovernorConfig::default();
    let store = MemoryStore::builder().max_keys(100).build();
    let limit = Limit::new(
        "login",
        TokenBucket::new(Quota::new(1, Duration::from_secs(4))).capacity(2),
    );
    for number in 0..1000_u32 {
        config.limiter().check_key(&IpAddr::V4(number.into())).unwrap();
        store.acquire(&limit, &Key::named("ip", number), 1);
    }
    assert_eq!((config.limiter().len(), store.len()), (1000, 100));
}

#[tokio::test]
async fn rejections_differ_in_headers_and_bodies() {
    let server = Server::start(example("from_tower_governor"));
    let exhaust = async |path: &str| {
        assert_eq!(server.statuses(5, path, ("x-none", "")).await, [200; 5]);
        let rejection = server.get(path, ("x-none", "")).await;
        assert_eq!(rejection.status(), 429);
        let wait: u64 = header(&rejection, "retry-after").parse().unwrap();
        (wait, rejection)
    };
    let (wait, theirs) = exhaust("/before/hello").await;
    // Not quite a minute, rounded down.
    assert!(wait < 60);
    assert_eq!(header(&theirs, "x-ratelimit-after"), wait.to_string());
    for absent in ["content-type", "x-ratelimit-reset", "ratelimit"] {
        assert!(!theirs.headers().contains_key(absent), "{absent}");
    }
    assert_eq!(
        theirs.text().await.unwrap(),
        format!("Too Many Requests! Wait for {wait}s")
    );

    let (wait, ours) = exhaust("/after/hello").await;
    assert!(!ours.headers().contains_key("x-ratelimit-after"));
    assert_eq!(header(&ours, "ratelimit"), format!("\"hello\";r=0;t={wait}"));
    assert_eq!(header(&ours, "ratelimit-policy"), "\"hello\";q=5;w=300");
    assert_eq!(header(&ours, "content-type"), "application/json");
}

#[tokio::test]
async fn only_tower_governor_marks_methods_that_are_not_counted() {
    let server = Server::start(example("from_tower_governor"));
    let theirs = server.get("/before/notes", ("x-none", "")).await;
    assert_eq!(header(&theirs, "x-ratelimit-whitelisted"), "true");
    let ours = server.get("/after/notes", ("x-none", "")).await;
    assert_eq!(ours.status(), 200);
    for absent in ["x-ratelimit-whitelisted", "x-ratelimit-limit", "ratelimit"] {
        assert!(!ours.headers().contains_key(absent), "{absent}");
    }
}
