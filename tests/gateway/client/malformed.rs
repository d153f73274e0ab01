//! Malformed and ambiguous requests (request smuggling): rejected, or forwarded in an unambiguous form.

use support::wait::with_timeout;

use super::other_clients_are_served;
use crate::gateway::{
    fixture::{COUNT_ONLY, Gateway},
    socket::{Socket, Upstream, status},
};

/// Requests that no parser should accept.
const MALFORMED: [&[u8]; 32] = [
    b"GET\r\n\r\n",
    b"GET /\r\n\r\n",
    b"GET / HTTP/1.1 \r\nhost: a\r\n\r\n",
    b"GET  / HTTP/1.1\r\nhost: a\r\n\r\n",
    b"GET / HTTP/2.0\r\nhost: a\r\n\r\n",
    b"GET / HTTP/1.2\r\nhost: a\r\n\r\n",
    b"GET / http/1.1\r\nhost: a\r\n\r\n",
    b"G(T / HTTP/1.1\r\nhost: a\r\n\r\n",
    b"GET /a b HTTP/1.1\r\nhost: a\r\n\r\n",
    b"GET /\x00 HTTP/1.1\r\nhost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nno colon\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nx y: z\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nx : y\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\n: y\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nx: a\x00b\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nx: a\rb\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nx: y\r\n folded\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n content-length: 6\r\n\r\n12345",
    b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n12345",
    b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5, 6\r\n\r\n12345",
    b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: +5\r\n\r\n12345",
    b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0x5\r\n\r\n12345",
    b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 99999999999999999999\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding : chunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.0\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 the start of TLS",
];

#[tokio::test]
async fn malformed_requests_are_a_400_and_do_not_reach_the_service() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    for bytes in MALFORMED {
        let shown = bytes.escape_ascii();
        let mut client = Socket::connect(&gateway).await;
        client.send(bytes).await;
        assert_eq!(client.response().await, (400, String::new()), "{shown}");
        assert_eq!(client.read_to_end().await.unwrap(), "", "{shown}");
    }
    // The first request at the service is the first well-formed one.
    let mut client = Socket::connect(&gateway).await;
    client.send("GET /first HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert!(upstream.accept().await.read_head().await.starts_with("GET /first "));
}

#[tokio::test]
async fn http_2_with_prior_knowledge_is_closed() {
    let service = super::echo().await;
    let gateway = Gateway::with_upstream(&service.url(), COUNT_ONLY, &["--client-timeout", "10m"]);
    let mut client = Socket::connect(&gateway).await;
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    // The gateway closes at once, and not after the client timeout.
    with_timeout(client.closed()).await;
    other_clients_are_served(&gateway).await;
}

/// Ambiguous requests, and what the gateway forwards, without the headers that it adds.
const AMBIGUOUS: [(&str, &str); 10] = [
    // Lines that end in LF alone.
    (
        "GET / HTTP/1.1\nhost: a\nx: y\n\n",
        "GET / HTTP/1.1\r\nhost: a\r\nx: y\r\n\r\n",
    ),
    (
        "\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\n\r\n",
    ),
    // The same content length twice.
    (
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 5\r\n\r\n12345",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n12345",
    ),
    // A content length and chunks, in either order: the chunks take precedence.
    (
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ),
    (
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ),
    // Leading zeros and chunk extensions.
    (
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n003;a=b\r\nabc\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ),
    (
        "POST / HTTP/1.1\r\nhost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\n\r\n",
    ),
    (
        "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody",
        "GET / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody",
    ),
    // Chunks with methods that usually have no body.
    (
        "GET / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    ),
    (
        "DELETE / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
        "DELETE / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
    ),
];

/// The head without the forwarding headers that the gateway adds.
fn without_forwarding_headers(head: &str) -> String {
    let is_kept = |line: &&str| !line.starts_with("via:") && !line.starts_with("x-forwarded-");
    head.split_inclusive("\r\n").filter(is_kept).collect()
}

#[tokio::test]
async fn ambiguous_requests_are_forwarded_unambiguously() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    for (sent, forwarded) in AMBIGUOUS {
        let mut client = Socket::connect(&gateway).await;
        client.send(sent).await;
        let mut service = upstream.accept().await;
        let head = without_forwarding_headers(&service.read_head().await);
        let body = service.read_exact(forwarded.len() - head.len()).await;
        assert_eq!(head + str::from_utf8(&body).unwrap(), forwarded, "{sent:?}");
        service
            .send("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            .await;
        assert_eq!(client.response().await.0, 200);
        // Nothing follows it.
        assert_eq!(service.read_to_end().await.unwrap(), "", "{sent:?}");
    }
}

/// Malformed chunks, after which a service might parse a second request.
const MALFORMED_CHUNKS: [&str; 6] = [
    "x\r\nabc\r\n0\r\n\r\n",
    "-3\r\nabc\r\n0\r\n\r\n",
    "3\r\nabcd\r\n0\r\n\r\n",
    "3\nabc\n0\n\n",
    "fffffffffffffffff\r\nabc\r\n0\r\n\r\n",
    "3 3\r\nabc\r\n0\r\n\r\nGET /second HTTP/1.1\r\nhost: a\r\n\r\n",
];

#[tokio::test]
async fn a_malformed_chunk_is_a_400_and_the_upstream_body_does_not_end() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    for chunks in MALFORMED_CHUNKS {
        let mut client = Socket::connect(&gateway).await;
        client
            .send(format!(
                "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n{chunks}"
            ))
            .await;
        let mut service = upstream.accept().await;
        let got = service.read_to_end().await.unwrap_or_default();
        assert!(
            !got.contains("0\r\n\r\n") && !got.contains("second"),
            "{chunks:?}: {got:?}"
        );
        let head = client.read_head().await;
        assert_eq!(status(&head), 400, "{chunks:?}");
        let rest = client.read_to_end().await.unwrap();
        assert_eq!(
            rest,
            r#"{"error":"bad_request","message":"The request body cannot be read."}"#
        );
    }
}
