//! Requests that can be read in more than one way, or in none: refused, or passed on in a way that has one reading only.

use std::time::Duration;

use super::others_are_answered;
use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    wire::{Upstream, Wire, status},
};

/// What is no request, or begins as none.
const REFUSED: [&[u8]; 32] = [
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
async fn what_is_no_request_is_refused_and_reaches_nobody() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &[]);
    for bytes in REFUSED {
        let shown = bytes.escape_ascii();
        let mut client = Wire::to(&gateway).await;
        client.say(bytes).await;
        assert_eq!(client.answer().await, (400, String::new()), "{shown}");
        assert_eq!(client.rest().await.unwrap(), "", "{shown}");
    }
    // The first that comes through is the first that is one.
    let mut client = Wire::to(&gateway).await;
    client.say("GET /first HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert!(upstream.accept().await.head().await.starts_with("GET /first "));
}

#[tokio::test]
async fn whoever_speaks_http_2_from_the_start_is_closed_and_reaches_nobody() {
    let service = super::echo().await;
    let gateway = Gateway::to(&service.url(), ANY_NUMBER, &[]);
    let mut client = Wire::to(&gateway).await;
    client.say("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    // It learns so at once, and not when it has been listened to for long enough.
    tokio::time::timeout(Duration::from_secs(8), client.gone())
        .await
        .unwrap();
    others_are_answered(&gateway).await;
}

/// What has two readings, and the one that is passed on: the head without what tells of the way, and the body.
const PASSED_ON: [(&str, &str); 8] = [
    // Lines that end in half of what lines end in.
    (
        "GET / HTTP/1.1\nhost: a\nx: y\n\n",
        "GET / HTTP/1.1\r\nhost: a\r\nx: y\r\n\r\n",
    ),
    (
        "\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\n\r\n",
    ),
    // The same length twice.
    (
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 5\r\n\r\n12345",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\n\r\n12345",
    ),
    // A length, and chunks: the chunks count, before and after it.
    (
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ),
    (
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ),
    // What nobody needs to know of chunks.
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
];

/// Without what the gateway says of a request's way.
fn without_the_way(head: &str) -> String {
    let told = |line: &&str| !line.starts_with("via:") && !line.starts_with("x-forwarded-");
    head.split_inclusive("\r\n").filter(told).collect()
}

#[tokio::test]
async fn what_has_two_readings_is_passed_on_by_one() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &[]);
    for (said, read) in PASSED_ON {
        let mut client = Wire::to(&gateway).await;
        client.say(said).await;
        let mut service = upstream.accept().await;
        let head = without_the_way(&service.head().await);
        let body = service.take(read.len() - head.len()).await;
        assert_eq!(head + str::from_utf8(&body).unwrap(), read, "{said:?}");
        service
            .say("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            .await;
        assert_eq!(client.answer().await.0, 200);
        // There was nothing behind it.
        assert_eq!(service.rest().await.unwrap(), "", "{said:?}");
    }
}

/// Chunks that are none: what comes after them may be taken for a request.
const BAD_CHUNKS: [&str; 6] = [
    "x\r\nabc\r\n0\r\n\r\n",
    "-3\r\nabc\r\n0\r\n\r\n",
    "3\r\nabcd\r\n0\r\n\r\n",
    "3\nabc\n0\n\n",
    "fffffffffffffffff\r\nabc\r\n0\r\n\r\n",
    "3 3\r\nabc\r\n0\r\n\r\nGET /second HTTP/1.1\r\nhost: a\r\n\r\n",
];

#[tokio::test]
async fn a_bad_chunk_is_a_400_and_the_service_never_gets_an_end() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &[]);
    for chunks in BAD_CHUNKS {
        let mut client = Wire::to(&gateway).await;
        client
            .say(format!(
                "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n{chunks}"
            ))
            .await;
        let mut service = upstream.accept().await;
        let got = service.rest().await.unwrap_or_default();
        assert!(
            !got.contains("0\r\n\r\n") && !got.contains("second"),
            "{chunks:?}: {got:?}"
        );
        let head = client.head().await;
        assert_eq!(status(&head), 400, "{chunks:?}");
        let rest = client.rest().await.unwrap();
        assert_eq!(
            rest,
            r#"{"error":"bad_request","message":"The request's body cannot be read."}"#
        );
    }
}
