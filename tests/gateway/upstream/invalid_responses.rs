//! Unreachable services and invalid responses: 502 at once.

use super::{BAD_UPSTREAM, FaultyUpstream, other_clients_are_served};
use support::port::Port;

use crate::gateway::{
    fixture::{COUNT_ONLY, Gateway},
    socket::{Socket, Upstream},
};

#[tokio::test]
async fn an_unreachable_service_is_a_502() {
    let port = Port::free();
    let gateway = Gateway::with_upstream(&format!("http://127.0.0.1:{}", port.number()), COUNT_ONLY, &[]);
    let reply = gateway.get("/").await;
    assert_eq!((reply.status, &*reply.body), (502, BAD_UPSTREAM));
    assert_eq!(reply.header("content-type"), "application/json");
}

/// The fault that each path triggers.
async fn fault(path: String, mut socket: Socket) {
    match &*path {
        "/garbage" => socket.send(b"\x00\x01\x02 this is no HTTP at all\r\n\r\n").await,
        "/another-protocol" => socket.send("220 mail.example.com ESMTP\r\n").await,
        "/closes" => drop(socket),
        "/resets" => socket.reset(),
        "/closes-in-a-head" => socket.send("HTTP/1.1 200 OK\r\ncontent-le").await,
        "/resets-in-a-head" => {
            socket.send("HTTP/1.1 200 OK\r\ncontent-le").await;
            socket.reset();
        }
        "/long-header" => {
            let long = "a".repeat(1 << 20);
            // The gateway does not read to the end.
            socket
                .try_send(format!(
                    "HTTP/1.1 200 OK\r\nx-long: {long}\r\ncontent-length: 0\r\n\r\n"
                ))
                .await
                .ok();
        }
        "/many-headers" => {
            let many = "x-more: of it\r\n".repeat(1000);
            socket
                .send(format!("HTTP/1.1 200 OK\r\n{many}content-length: 0\r\n\r\n"))
                .await;
        }
        "/switches" => {
            socket
                .send("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n")
                .await
        }
        "/websocket-unasked" => {
            socket
                .send("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n")
                .await;
        }
        "/two-lengths" => {
            socket
                .send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nabc")
                .await
        }
        "/encoded-twice" => {
            socket
                .send("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n")
                .await
        }
        "/no-length" => socket.send("HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n").await,
        path => panic!("{path}"),
    }
}

const FAULTS: [&str; 13] = [
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
async fn an_invalid_response_is_a_502_for_its_client_alone() {
    let upstream = FaultyUpstream::start(fault).await;
    let gateway = Gateway::with_upstream(&upstream.url, COUNT_ONLY, &[]);
    for path in FAULTS {
        let reply = gateway.get(path).await;
        assert_eq!((reply.status, &*reply.body), (502, BAD_UPSTREAM), "{path}");
        other_clients_are_served(&gateway).await;
    }
}

/// A header that frames a body, and its first five bytes as sent.
const FRAMED: [(&str, &str); 3] = [
    ("content-length: 10", "12345"),
    ("transfer-encoding: chunked", "5\r\n12345\r\n"),
    // The body ends when the connection is closed, and a reset is not a close.
    ("connection: close", "12345"),
];

#[tokio::test]
async fn a_reset_inside_a_body_does_not_complete_it() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    for version in ["1.1", "1.0"] {
        for (framing, piece) in FRAMED {
            let mut client = Socket::connect(&gateway).await;
            client.send(format!("GET / HTTP/{version}\r\nhost: a\r\n\r\n")).await;
            let mut service = upstream.accept().await;
            service.read_head().await;
            service
                .send(format!("HTTP/1.1 200 OK\r\n{framing}\r\n\r\n{piece}"))
                .await;
            let head = client.read_until("12345").await;
            service.reset();
            match client.read_to_end().await {
                // The body is shorter than its length, or lacks its last chunk.
                Ok(rest) => assert!(head.contains("content-length: 10") || head.contains("chunked") && rest == "\r\n"),
                // Without framing, only a reset signals the error.
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
            }
        }
    }
}
