//! Hop-by-hop headers are removed, and end-to-end headers are forwarded unchanged.

use crate::gateway::{
    fixture::{COUNT_ONLY, Gateway},
    socket::{Socket, Upstream},
};

/// The sorted headers of a head, without those that the gateway adds.
fn sorted(head: &str) -> Vec<&str> {
    let mut lines: Vec<_> = head
        .trim_end()
        .split("\r\n")
        .skip(1)
        .filter(|line| !is_added_by_the_gateway(line))
        .collect();
    lines.sort_unstable();
    lines
}

fn is_added_by_the_gateway(line: &str) -> bool {
    [
        "via: 1.1 tollgate-",
        "x-forwarded-",
        "date: ",
        "x-ratelimit-",
        "ratelimit",
    ]
    .iter()
    .any(|start| line.starts_with(start))
}

/// The value of each line of a header.
pub(crate) fn values<'h>(head: &'h str, name: &str) -> Vec<&'h str> {
    let lines = head.split("\r\n").filter_map(|line| line.split_once(": "));
    lines
        .filter(|(known, _)| *known == name)
        .map(|(_, value)| value)
        .collect()
}

/// The heads that the service and the client receive for this request and response.
async fn forwarded(request: impl AsRef<[u8]>, response: impl AsRef<[u8]>) -> (String, String) {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    let mut client = Socket::connect(&gateway).await;
    client.send(request).await;
    let mut service = upstream.accept().await;
    let got = service.read_head().await;
    service.send(response).await;
    (got, client.read_head().await)
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

#[tokio::test]
async fn hop_by_hop_request_headers_are_removed() {
    let request = "GET / HTTP/1.1\r\nhost: a\r\n\
        connection: keep-alive, x-private, x-forwarded-for, x-forwarded-host, host, via, not a name\r\n\
        connection: X-Other\r\nx-private: 1\r\nx-other: 2\r\nkeep-alive: timeout=5\r\nproxy-connection: keep-alive\r\n\
        proxy-authorization: Basic YTpi\r\nproxy-authenticate: Basic\r\nte: gzip;q=0.5\r\nupgrade: h2c\r\n\
        http2-settings: AAMAAABk\r\nx-kept: 3\r\nauthorization: Bearer secret\r\n\r\n";
    let (got, _) = forwarded(request, OK).await;
    let kept = [
        "authorization: Bearer secret",
        "host: a",
        "http2-settings: AAMAAABk",
        "x-kept: 3",
    ];
    assert_eq!(sorted(&got), kept);
    assert_eq!(values(&got, "x-forwarded-host"), ["a"]);
    assert_eq!(values(&got, "via").len(), 1);
}

/// The service does not receive it, so it would count each request of the client by another key.
#[tokio::test]
async fn limits_do_not_count_by_a_header_that_connection_names() {
    let service = crate::gateway::client::echo().await;
    let limit = "name = 'api'\nalgorithm = 'fixed_window'\nlimit = 2\nwindow = '3650d'\nkey = 'apikey:x-api-key'\ndefault = 'ip'";
    let gateway = Gateway::with_upstream(&service.url(), &format!("[[limit]]\n{limit}\n"), &[]);
    let mut client = Socket::connect(&gateway).await;
    for (key, expected) in [("one", 200), ("two", 200), ("three", 429)] {
        let named = format!("connection: keep-alive, X-Api-Key\r\nx-api-key: {key}\r\n");
        client.send(format!("GET / HTTP/1.1\r\nhost: a\r\n{named}\r\n")).await;
        assert_eq!(client.response().await.0, expected, "{key}");
    }
}

#[tokio::test]
async fn hop_by_hop_response_headers_are_removed() {
    let response = "HTTP/1.1 200 OK\r\nconnection: x-private, keep-alive\r\nx-private: 1\r\nkeep-alive: timeout=5\r\n\
        proxy-authenticate: Basic\r\nproxy-connection: close\r\nupgrade: h2c\r\nx-kept: 2\r\n\
        content-length: 0\r\n\r\n";
    let (_, got) = forwarded("GET / HTTP/1.1\r\nhost: a\r\n\r\n", response).await;
    assert_eq!(sorted(&got), ["content-length: 0", "x-kept: 2"]);
}

#[tokio::test]
async fn an_upstream_close_keeps_the_client_connection_open() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    let mut client = Socket::connect(&gateway).await;
    for _ in 0..3 {
        client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
        let mut service = upstream.accept().await;
        service.read_head().await;
        service
            .send("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok")
            .await;
        assert_eq!(client.response().await, (200, "ok".to_owned()));
    }
}

#[tokio::test]
async fn connection_cannot_remove_framing_headers() {
    let request = "POST / HTTP/1.1\r\nhost: a\r\nconnection: content-length\r\ncontent-length: 4\r\n\r\nbody";
    let (got, _) = forwarded(request, OK).await;
    assert_eq!(sorted(&got), ["content-length: 4", "host: a"]);
    let request = "POST / HTTP/1.1\r\nhost: a\r\nconnection: transfer-encoding\r\ntransfer-encoding: chunked\r\n\r\n\
        4\r\nbody\r\n0\r\n\r\n";
    let (got, _) = forwarded(request, OK).await;
    assert_eq!(sorted(&got), ["host: a", "transfer-encoding: chunked"]);
}

#[tokio::test]
async fn repeated_headers_and_non_ascii_values_are_unchanged() {
    let lines =
        b"x-list: a\r\nx-list: b, c\r\nx-odd: \xe4\xff \"\\\r\nset-cookie: a=1; Path=/\r\nset-cookie: b=2, 3\r\n\
        x-empty: \r\n";
    let request = [b"GET / HTTP/1.1\r\nhost: a\r\n", &lines[..], b"\r\n"].concat();
    let response = [b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n", &lines[..], b"\r\n"].concat();
    let (there, back) = forwarded(request, response).await;
    for got in [there, back] {
        assert_eq!(values(&got, "x-list"), ["a", "b, c"]);
        assert_eq!(values(&got, "x-odd"), ["\u{e4}\u{ff} \"\\"]);
        assert_eq!(values(&got, "set-cookie"), ["a=1; Path=/", "b=2, 3"]);
        assert_eq!(values(&got, "x-empty"), [""]);
    }
}

#[tokio::test]
async fn the_service_receives_host_and_via() {
    let (got, _) = forwarded("GET / HTTP/1.1\r\nhost: shop.example:81\r\nvia: 1.0 first\r\n\r\n", OK).await;
    assert_eq!(values(&got, "host"), ["shop.example:81"]);
    assert_eq!(values(&got, "x-forwarded-host"), ["shop.example:81"]);
    assert_eq!(values(&got, "x-forwarded-proto"), ["http"]);
    let via = values(&got, "via");
    assert_eq!((via.len(), via[0]), (2, "1.0 first"));
    assert!(via[1].starts_with("1.1 tollgate-"), "{via:?}");
}

#[tokio::test]
async fn rate_limit_headers_are_added_to_the_response() {
    let response = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx-cost: 1\r\nretry-after: 7\r\n\r\n";
    let (_, got) = forwarded("GET / HTTP/1.1\r\nhost: a\r\n\r\n", response).await;
    assert_eq!(sorted(&got), ["content-length: 0", "retry-after: 7", "x-cost: 1"]);
    assert_eq!(values(&got, "x-ratelimit-limit"), ["1000000"]);
    assert_eq!(values(&got, "x-ratelimit-remaining"), ["999999"]);
}
