//! Services that go away, or answer what is no answer: 502, at once.

use super::{BAD, Moody, others_are_answered};
use support::port::Port;

use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    wire::{Upstream, Wire},
};

#[tokio::test]
async fn one_that_nobody_has_started_is_a_502() {
    let port = Port::free();
    let gateway = Gateway::to(&format!("http://127.0.0.1:{}", port.number()), ANY_NUMBER, &[]);
    let reply = gateway.get("/").await;
    assert_eq!((reply.status, &*reply.body), (502, BAD));
    assert_eq!(reply.header("content-type"), "application/json");
}

/// What each path brings about.
async fn mood(path: String, mut wire: Wire) {
    match &*path {
        "/garbage" => wire.say(b"\x00\x01\x02 this is no HTTP at all\r\n\r\n").await,
        "/another-protocol" => wire.say("220 mail.example.com ESMTP\r\n").await,
        "/closes" => drop(wire),
        "/resets" => wire.reset(),
        "/closes-in-a-head" => wire.say("HTTP/1.1 200 OK\r\ncontent-le").await,
        "/resets-in-a-head" => {
            wire.say("HTTP/1.1 200 OK\r\ncontent-le").await;
            wire.reset();
        }
        "/long-header" => {
            let long = "a".repeat(1 << 20);
            // It is not listened to until the end.
            wire.try_say(format!(
                "HTTP/1.1 200 OK\r\nx-long: {long}\r\ncontent-length: 0\r\n\r\n"
            ))
            .await
            .ok();
        }
        "/many-headers" => {
            let many = "x-more: of it\r\n".repeat(1000);
            wire.say(format!("HTTP/1.1 200 OK\r\n{many}content-length: 0\r\n\r\n"))
                .await;
        }
        "/switches" => {
            wire.say("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n")
                .await
        }
        "/websocket-unasked" => {
            wire.say("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n")
                .await;
        }
        "/two-lengths" => {
            wire.say("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc")
                .await
        }
        "/encoded-twice" => {
            wire.say("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n")
                .await
        }
        "/no-length" => wire.say("HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n").await,
        path => panic!("{path}"),
    }
}

const BROKEN: [&str; 13] = [
    "/garbage",
    "/another-protocol",
    "/closes",
    "/resets",
    "/closes-in-a-head",
    "/resets-in-a-head",
    "/long-header",
    "/many-headers",
    "/switches",
    "/websocket-unasked",
    "/two-lengths",
    "/encoded-twice",
    "/no-length",
];

#[tokio::test]
async fn whatever_is_no_answer_is_a_502_for_its_client_alone() {
    let upstream = Moody::start(mood).await;
    let gateway = Gateway::to(&upstream.url, ANY_NUMBER, &[]);
    for path in BROKEN {
        let reply = gateway.get(path).await;
        assert_eq!((reply.status, &*reply.body), (502, BAD), "{path}");
        others_are_answered(&gateway).await;
    }
}

/// How a body is announced, and how its first five bytes are sent.
const FRAMED: [(&str, &str); 3] = [
    ("content-length: 10", "12345"),
    ("transfer-encoding: chunked", "5\r\n12345\r\n"),
    // It lasts until the connection is closed, which a reset is not.
    ("connection: close", "12345"),
];

#[tokio::test]
async fn a_body_that_is_reset_in_the_middle_is_never_a_complete_one() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &[]);
    for version in ["1.1", "1.0"] {
        for (framing, piece) in FRAMED {
            let mut client = Wire::to(&gateway).await;
            client.say(format!("GET / HTTP/{version}\r\nhost: a\r\n\r\n")).await;
            let mut service = upstream.accept().await;
            service.head().await;
            service
                .say(format!("HTTP/1.1 200 OK\r\n{framing}\r\n\r\n{piece}"))
                .await;
            let head = client.until("12345").await;
            service.reset();
            match client.rest().await {
                // Its length or its last chunk is missing.
                Ok(rest) => assert!(head.contains("content-length: 10") || head.contains("chunked") && rest == "\r\n"),
                // Where nothing but a reset could say so.
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
            }
        }
    }
}
