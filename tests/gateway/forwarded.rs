//! Forwarding headers: the service receives none that a client has forged.

use support::port::Port;

use crate::{
    gateway::{
        fixture::{COUNT_ONLY, Gateway, program},
        headers::values,
        socket::{Socket, Upstream},
    },
    server_process::Running,
};

/// The peer of the socket is a trusted proxy.
const TRUSTED: &str = "
[trust]
proxies = [\"127.0.0.1/32\"]
headers = [\"x-user-id\"]
";
/// The peer of the socket is not a trusted proxy.
const UNTRUSTED: &str = "
[trust]
proxies = [\"192.0.2.1/32\"]
headers = [\"x-user-id\"]
";

/// Every header that proxies set.
const FORWARDING_HEADERS: &str = "x-forwarded-for: 198.51.100.1\r\nx-forwarded-host: shop.example\r\nx-forwarded-proto: https\r\n\
    forwarded: for=203.0.113.9\r\nx-user-id: alice\r\n";

/// The forwarding headers that the service receives.
async fn received(trust: &str, headers: &str) -> [String; 5] {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), &format!("{COUNT_ONLY}{trust}"), &[]);
    let mut client = Socket::connect(&gateway).await;
    client.send(format!("GET / HTTP/1.1\r\nhost: a\r\n{headers}\r\n")).await;
    let head = upstream.accept().await.read_head().await;
    let names = [
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "forwarded",
        "x-user-id",
    ];
    names.map(|name| values(&head, name).join(" + "))
}

#[tokio::test]
async fn forged_forwarding_headers_are_replaced() {
    for trust in ["", UNTRUSTED] {
        let [address, host, protocol, forwarded, user] = received(trust, FORWARDING_HEADERS).await;
        assert_eq!(
            [&*address, &*host, &*protocol, &*forwarded],
            ["127.0.0.1", "a", "http", ""]
        );
        // Without [trust], the header is not reserved for proxies.
        assert_eq!(user, if trust.is_empty() { "alice" } else { "" });
    }
}

#[tokio::test]
async fn headers_of_a_trusted_proxy_are_kept_and_extended() {
    let kept = ["198.51.100.1, 127.0.0.1", "shop.example", "https", "", "alice"];
    assert_eq!(received(TRUSTED, FORWARDING_HEADERS).await, kept);
    assert_eq!(received(TRUSTED, "").await, ["127.0.0.1", "a", "http", "", ""]);
}

#[tokio::test]
async fn connection_cannot_remove_forwarding_headers() {
    let named = "connection: x-forwarded-for, x-forwarded-host, X-Forwarded-Proto, host, forwarded, via\r\n";
    for (trust, address) in [("", "127.0.0.1"), (TRUSTED, "198.51.100.1, 127.0.0.1")] {
        let got = received(trust, &format!("{named}x-forwarded-for: 198.51.100.1\r\n")).await;
        assert_eq!(got, [address, "a", "http", "", ""]);
    }
}

#[tokio::test]
async fn a_forwarding_loop_is_a_508() {
    let port = Port::free();
    let at = format!("127.0.0.1:{}", port.number());
    let to_itself = ["--listen", &at, "--upstream", &format!("http://{at}")];
    let _gateway = Running::start(program().args(to_itself));
    let mut client = Socket::connect_to(at.parse().unwrap()).await;
    client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let response = client.response().await;
    let body = r#"{"error":"loop_detected","message":"The gateway is configured to forward requests to itself."}"#;
    assert_eq!(response, (508, body.to_owned()));
}

#[tokio::test]
async fn two_chained_gateways_are_not_a_loop() {
    let upstream = Upstream::start().await;
    let second = Gateway::with_upstream(&upstream.url(), &format!("{COUNT_ONLY}{TRUSTED}"), &[]);
    let first = Gateway::with_upstream(&second.url(), COUNT_ONLY, &[]);
    let mut client = Socket::connect(&first).await;
    client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut service = upstream.accept().await;
    let head = service.read_head().await;
    assert_eq!(values(&head, "x-forwarded-for").join(", "), "127.0.0.1, 127.0.0.1");
    assert_eq!(values(&head, "via").len(), 2);
    service.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
    assert_eq!(client.response().await, (200, "ok".to_owned()));
}
