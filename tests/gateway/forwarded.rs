//! What the service is told of the way a request came: nothing that a client made up.

use support::port::Port;

use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    headers::values,
    program::{Running, program},
    wire::{Upstream, Wire},
};

/// Whoever is at the other end of the socket may say whom it asks for.
const BELIEVED: &str = "
[trust]
proxies = [\"127.0.0.1/32\"]
headers = [\"x-user-id\"]
";
/// Nobody near may.
const NOT_BELIEVED: &str = "
[trust]
proxies = [\"192.0.2.1/32\"]
headers = [\"x-user-id\"]
";

/// Everything that proxies tell.
const TOLD: &str = "x-forwarded-for: 198.51.100.1\r\nx-forwarded-host: shop.example\r\nx-forwarded-proto: https\r\n\
    forwarded: for=203.0.113.9\r\nx-user-id: alice\r\n";

/// What the service gets: each header's lines.
async fn told(trust: &str, headers: &str) -> [String; 5] {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), &format!("{ANY_NUMBER}{trust}"), &[]);
    let mut client = Wire::to(&gateway).await;
    client.say(format!("GET / HTTP/1.1\r\nhost: a\r\n{headers}\r\n")).await;
    let head = upstream.accept().await.head().await;
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
async fn what_a_client_says_of_itself_is_replaced() {
    for trust in ["", NOT_BELIEVED] {
        let [address, host, protocol, forwarded, user] = told(trust, TOLD).await;
        assert_eq!(
            [&*address, &*host, &*protocol, &*forwarded],
            ["127.0.0.1", "a", "http", ""]
        );
        // Without [trust], nobody says that it is for proxies alone.
        assert_eq!(user, if trust.is_empty() { "alice" } else { "" });
    }
}

#[tokio::test]
async fn what_a_proxy_says_is_kept_and_added_to() {
    let kept = ["198.51.100.1, 127.0.0.1", "shop.example", "https", "", "alice"];
    assert_eq!(told(BELIEVED, TOLD).await, kept);
    assert_eq!(told(BELIEVED, "").await, ["127.0.0.1", "a", "http", "", ""]);
}

#[tokio::test]
async fn nobody_can_have_it_taken_away() {
    let named = "connection: x-forwarded-for, x-forwarded-host, X-Forwarded-Proto, host, forwarded, via\r\n";
    for (trust, address) in [("", "127.0.0.1"), (BELIEVED, "198.51.100.1, 127.0.0.1")] {
        let got = told(trust, &format!("{named}x-forwarded-for: 198.51.100.1\r\n")).await;
        assert_eq!(got, [address, "a", "http", "", ""]);
    }
}

#[tokio::test]
async fn a_request_that_comes_back_is_a_508() {
    let port = Port::free();
    let at = format!("127.0.0.1:{}", port.number());
    let to_itself = ["--listen", &at, "--upstream", &format!("http://{at}")];
    let _gateway = Running::start(program().args(to_itself));
    let mut client = Wire::at(at.parse().unwrap()).await;
    client.say("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let answer = client.answer().await;
    let body = r#"{"error":"loop_detected","message":"This gateway was told to pass requests on to itself."}"#;
    assert_eq!(answer, (508, body.to_owned()));
}

#[tokio::test]
async fn one_gateway_behind_another_is_no_loop() {
    let upstream = Upstream::start().await;
    let second = Gateway::to(&upstream.url(), &format!("{ANY_NUMBER}{BELIEVED}"), &[]);
    let first = Gateway::to(&second.url(), ANY_NUMBER, &[]);
    let mut client = Wire::to(&first).await;
    client.say("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut service = upstream.accept().await;
    let head = service.head().await;
    assert_eq!(values(&head, "x-forwarded-for").join(", "), "127.0.0.1, 127.0.0.1");
    assert_eq!(values(&head, "via").len(), 2);
    service.say("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
    assert_eq!(client.answer().await, (200, "ok".to_owned()));
}
