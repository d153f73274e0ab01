//! Clients that say in unusual ways what they want, and of whom.

use super::others_are_answered;
use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    wire::{Upstream, Wire},
};

/// What is refused, and why.
const REFUSED: [(&str, &str); 9] = [
    (
        "CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n",
        "This gateway does not connect clients to elsewhere.",
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
        "The request's target must not have a user in it.",
    ),
    (
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "The request's body must not be encoded for its transfer, but by chunks.",
    ),
    (
        "GET /a\\b HTTP/1.1\r\nhost: a\r\n\r\n",
        "The path must not contain a backslash: some take it for a slash.",
    ),
    (
        "GET /%zz HTTP/1.1\r\nhost: a\r\n\r\n",
        "The path must have two hexadecimal digits after each percent sign.",
    ),
];

#[tokio::test]
async fn what_cannot_be_passed_on_is_a_400_that_says_why() {
    let service = super::echo().await;
    let gateway = Gateway::to(&service.url(), ANY_NUMBER, &[]);
    for (said, why) in REFUSED {
        let mut client = Wire::to(&gateway).await;
        client.say(said).await;
        let answer = format!(r#"{{"error":"bad_request","message":"{why}"}}"#);
        assert_eq!(client.answer().await, (400, answer), "{said:?}");
    }
    others_are_answered(&gateway).await;
}

/// What is asked, and the request line and the host that the service gets.
const PASSED_ON: [(&str, &str, &str); 5] = [
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
async fn who_writes_the_whole_address_names_the_host_there() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &[]);
    for (said, line, host) in PASSED_ON {
        let mut client = Wire::to(&gateway).await;
        client.say(said).await;
        let head = upstream.accept().await.head().await;
        assert_eq!(head.lines().next(), Some(line));
        let hosts: Vec<_> = head.lines().filter_map(|line| line.strip_prefix("host: ")).collect();
        assert_eq!(hosts, [host], "{said:?}");
    }
}
