//! Request targets and Host headers in unusual forms.

use super::other_clients_are_served;
use crate::gateway::{
    fixture::{COUNT_ONLY, Gateway},
    socket::{Socket, Upstream},
};

/// Rejected requests, and the message.
const REJECTED: [(&str, &str); 12] = [
    (
        "CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n",
        "This gateway does not support CONNECT.",
    ),
    (
        "OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n",
        "The path must begin with a slash.",
    ),
    ("GET / HTTP/1.1\r\n\r\n", "The request must have a Host header."),
    (
        "GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        "The request must have one Host header.",
    ),
    (
        "GET / HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n",
        "The request must have one Host header.",
    ),
    (
        "GET http://me@b/ HTTP/1.1\r\nhost: a\r\n\r\n",
        "The request target must not contain user information.",
    ),
    (
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "The request body must not have a transfer coding other than chunked.",
    ),
    (
        "GET /a\\b HTTP/1.1\r\nhost: a\r\n\r\n",
        "The path must not contain a backslash, which some services treat as a slash.",
    ),
    (
        "GET /%5C..%5Cfiles HTTP/1.1\r\nhost: a\r\n\r\n",
        "The path must not contain a backslash, which some services treat as a slash.",
    ),
    (
        "GET /x/..;a=b/files HTTP/1.1\r\nhost: a\r\n\r\n",
        "The path must not contain a dot segment with parameters, which some services resolve.",
    ),
    (
        "GET /%2e%3b/files HTTP/1.1\r\nhost: a\r\n\r\n",
        "The path must not contain a dot segment with parameters, which some services resolve.",
    ),
    (
        "GET /%zz HTTP/1.1\r\nhost: a\r\n\r\n",
        "The path must have two hexadecimal digits after each percent sign.",
    ),
];

#[tokio::test]
async fn unsupported_targets_are_a_400_with_a_reason() {
    let service = super::echo().await;
    let gateway = Gateway::with_upstream(&service.url(), COUNT_ONLY, &[]);
    for (request, message) in REJECTED {
        let mut client = Socket::connect(&gateway).await;
        client.send(request).await;
        let body = format!(r#"{{"error":"bad_request","message":"{message}"}}"#);
        assert_eq!(client.response().await, (400, body), "{request:?}");
    }
    other_clients_are_served(&gateway).await;
}

/// A request, and the request line and the host that the service receives.
const FORWARDED: [(&str, &str, &str); 5] = [
    (
        "GET http://b/path?query HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /path?query HTTP/1.1",
        "b",
    ),
    (
        "GET http://b:81 HTTP/1.1\r\nhost: a\r\nhost: c\r\n\r\n",
        "GET / HTTP/1.1",
        "b:81",
    ),
    (
        "GET /?a=http://b/ HTTP/1.1\r\nhost: a:80\r\n\r\n",
        "GET /?a=http://b/ HTTP/1.1",
        "a:80",
    ),
    ("OPTIONS /x HTTP/1.1\r\nhost: a\r\n\r\n", "OPTIONS /x HTTP/1.1", "a"),
    ("BREW /pot HTTP/1.0\r\nhost: a\r\n\r\n", "BREW /pot HTTP/1.1", "a"),
];

#[tokio::test]
async fn an_absolute_target_overrides_the_host_header() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    for (request, line, host) in FORWARDED {
        let mut client = Socket::connect(&gateway).await;
        client.send(request).await;
        let head = upstream.accept().await.read_head().await;
        assert_eq!(head.lines().next(), Some(line));
        let hosts: Vec<_> = head.lines().filter_map(|line| line.strip_prefix("host: ")).collect();
        assert_eq!(hosts, [host], "{request:?}");
    }
}
