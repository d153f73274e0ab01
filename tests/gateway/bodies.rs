//! Bodies are streamed in both directions, with their framing unchanged.

use std::time::{Duration, Instant};

use crate::gateway::{
    fixture::{COUNT_ONLY, Gateway},
    socket::{Socket, Upstream, status},
};

/// A header that frames a body, and the body in two pieces.
const TWO_PIECES: [(&str, [&str; 2]); 2] = [
    ("content-length: 11", ["first", "second"]),
    (
        "transfer-encoding: chunked",
        ["5\r\nfirst\r\n", "6\r\nsecond\r\n0\r\n\r\n"],
    ),
];

async fn start(options: &[&str]) -> (Upstream, Gateway) {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, options);
    (upstream, gateway)
}

/// Sent by a service that closes its connection next; otherwise the gateway might reuse the connection.
const CONNECTION_CLOSE: &str = "connection: close\r\n";

#[tokio::test]
async fn request_bodies_are_streamed() {
    let (upstream, gateway) = start(&[]).await;
    for (framing, [first, second]) in TWO_PIECES {
        let mut client = Socket::connect(&gateway).await;
        client
            .send(format!("PUT / HTTP/1.1\r\nhost: a\r\n{framing}\r\n\r\n{first}"))
            .await;
        let mut service = upstream.accept().await;
        let head = service.read_head().await;
        assert!(head.contains(&format!("{framing}\r\n")), "{head}");
        service.read_until(first).await;
        client.send(second).await;
        assert_eq!(service.read_until(second).await, second);
        service
            .send(format!(
                "HTTP/1.1 201 Created\r\n{CONNECTION_CLOSE}content-length: 0\r\n\r\n"
            ))
            .await;
        assert_eq!(client.response().await.0, 201);
    }
}

#[tokio::test]
async fn response_bodies_are_streamed() {
    let (upstream, gateway) = start(&[]).await;
    for (framing, [first, second]) in TWO_PIECES {
        let mut client = Socket::connect(&gateway).await;
        client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
        let mut service = upstream.accept().await;
        service.read_head().await;
        service
            .send(format!("HTTP/1.1 200 OK\r\n{CONNECTION_CLOSE}{framing}\r\n\r\n{first}"))
            .await;
        let head = client.read_head().await;
        assert!(head.contains(&format!("{framing}\r\n")), "{head}");
        client.read_until(first).await;
        service.send(second).await;
        assert_eq!(client.read_until(second).await, second);
    }
}

/// The client sends each chunk only after it has received the previous one back.
#[tokio::test]
async fn request_and_response_are_streamed_at_once() {
    let (upstream, gateway) = start(&[]).await;
    let mut client = Socket::connect(&gateway).await;
    client
        .send("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n")
        .await;
    let mut service = upstream.accept().await;
    service.read_head().await;
    service
        .send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        .await;
    client.read_head().await;
    for number in 0..100 {
        let piece = format!("3\r\n{number:03}\r\n");
        client.send(&piece).await;
        assert_eq!(service.read_until(&piece).await, piece);
        service.send(&piece).await;
        assert_eq!(client.read_until(&piece).await, piece);
    }
}

const PIECES: usize = 100;

/// A megabyte, different for each number.
fn piece(number: usize) -> Vec<u8> {
    vec![number as u8; 1 << 20]
}

/// A piece as it is sent, alone or as a chunk.
fn framed(number: usize, chunked: bool) -> Vec<u8> {
    match chunked {
        false => piece(number),
        true => [b"100000\r\n", &*piece(number), b"\r\n"].concat(),
    }
}

/// Reads a piece from any number of chunks; `left` is the rest of the current chunk.
async fn next(socket: &mut Socket, chunked: bool, left: &mut usize) -> Vec<u8> {
    let mut piece = Vec::new();
    while piece.len() < 1 << 20 {
        if chunked && *left == 0 {
            let line = socket.read_until("\r\n").await;
            *left = usize::from_str_radix(line.trim(), 16).unwrap();
        }
        let want = (1 << 20) - piece.len();
        let count = if chunked { want.min(*left) } else { want };
        piece.extend(socket.read_exact(count).await);
        if chunked {
            *left -= count;
            if *left == 0 {
                socket.read_exact(2).await;
            }
        }
    }
    piece
}

async fn send(socket: &mut Socket, chunked: bool) {
    for number in 0..PIECES {
        socket.send(framed(number, chunked)).await;
    }
    if chunked {
        socket.send("0\r\n\r\n").await;
    }
}

async fn receive(socket: &mut Socket, chunked: bool) {
    let mut left = 0;
    for number in 0..PIECES {
        assert!(next(socket, chunked, &mut left).await == piece(number), "{number}");
    }
    if chunked {
        assert_eq!(socket.read_until("\r\n\r\n").await, "0\r\n\r\n");
    }
}

#[tokio::test]
async fn large_bodies_take_bounded_memory() {
    let (upstream, gateway) = start(&[]).await;
    let before = gateway.peak_memory();
    for chunked in [false, true] {
        let framing = match chunked {
            false => format!("content-length: {}", PIECES << 20),
            true => "transfer-encoding: chunked".to_owned(),
        };
        let mut client = Socket::connect(&gateway).await;
        client
            .send(format!("POST / HTTP/1.1\r\nhost: a\r\n{framing}\r\n\r\n"))
            .await;
        let mut service = upstream.accept().await;
        service.read_head().await;
        tokio::join!(send(&mut client, chunked), receive(&mut service, chunked));
        service
            .send(format!("HTTP/1.1 200 OK\r\n{CONNECTION_CLOSE}{framing}\r\n\r\n"))
            .await;
        client.read_head().await;
        tokio::join!(send(&mut service, chunked), receive(&mut client, chunked));
    }
    let grown = gateway.peak_memory() - before;
    assert!(grown < 16 << 20, "it has grown by {grown} bytes");
}

#[tokio::test]
async fn a_progressing_upload_may_exceed_the_upstream_timeout() {
    let (upstream, gateway) = start(&["--upstream-timeout", "2s"]).await;
    let mut client = Socket::connect(&gateway).await;
    client
        .send("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n")
        .await;
    let mut service = upstream.accept().await;
    service.read_head().await;
    // The gateway waits for a response by now. The test has to exceed the timeout in real time.
    let waits = Instant::now();
    let mut number = 0;
    while waits.elapsed() < Duration::from_secs(3) {
        let piece = format!("8\r\n{number:08}\r\n");
        client.send(&piece).await;
        assert_eq!(service.read_until(&piece).await, piece);
        number += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The request body is still open, so the upstream timeout does not run.
    service.send("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    assert_eq!(client.response().await.0, 200);
}

/// Request trailers could contain headers that only proxies may set.
#[tokio::test]
async fn response_trailers_pass_and_request_trailers_are_dropped() {
    let (upstream, gateway) = start(&[]).await;
    let mut client = Socket::connect(&gateway).await;
    let trailed = "transfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n3\r\nabc\r\n0\r\nx-sum: 6\r\n\r\n";
    client
        .send(format!("POST / HTTP/1.1\r\nhost: a\r\nte: trailers\r\n{trailed}"))
        .await;
    let mut service = upstream.accept().await;
    let head = service.read_head().await;
    assert!(
        !head.contains("trailer:") && head.contains("te: trailers\r\n"),
        "{head}"
    );
    assert_eq!(service.read_until("\r\n\r\n").await, "3\r\nabc\r\n0\r\n\r\n");
    service.send(format!("HTTP/1.1 200 OK\r\n{trailed}")).await;
    assert_eq!(status(&client.read_head().await), 200);
    assert_eq!(client.read_until("\r\n\r\n").await, "3\r\nabc\r\n0\r\nx-sum: 6\r\n\r\n");
}

/// Method, a response without a body, and the content length that the client receives.
const BODILESS: [(&str, &str, &str); 4] = [
    ("HEAD", "200 OK\r\ncontent-length: 10", "content-length: 10"),
    ("HEAD", "200 OK\r\ntransfer-encoding: chunked", ""),
    ("GET", "304 Not Modified\r\ncontent-length: 10", ""),
    ("GET", "204 No Content", ""),
];

#[tokio::test]
async fn bodiless_responses_keep_the_connection_usable() {
    let (upstream, gateway) = start(&[]).await;
    let mut client = Socket::connect(&gateway).await;
    for (method, response, length) in BODILESS {
        client.send(format!("{method} / HTTP/1.1\r\nhost: a\r\n\r\n")).await;
        let mut service = upstream.accept().await;
        service.read_head().await;
        service
            .send(format!("HTTP/1.1 {response}\r\n{CONNECTION_CLOSE}\r\n"))
            .await;
        let head = client.read_head().await;
        assert_eq!(status(&head).to_string(), response[..3], "{response}");
        let received = head
            .lines()
            .find(|line| line.starts_with("content-length"))
            .unwrap_or_default();
        assert_eq!(received, length, "{method} {response}");
    }
}

#[tokio::test]
async fn a_request_without_a_body_has_no_framing_headers() {
    let (upstream, gateway) = start(&[]).await;
    for method in ["GET", "POST", "DELETE", "HEAD"] {
        let mut client = Socket::connect(&gateway).await;
        client.send(format!("{method} / HTTP/1.1\r\nhost: a\r\n\r\n")).await;
        let head = upstream.accept().await.read_head().await;
        assert!(
            !head.contains("content-length") && !head.contains("transfer-encoding"),
            "{head}"
        );
    }
    let mut client = Socket::connect(&gateway).await;
    client
        .send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n")
        .await;
    let head = upstream.accept().await.read_head().await;
    assert!(
        head.contains("content-length: 0\r\n") && !head.contains("transfer-encoding"),
        "{head}"
    );
}

#[tokio::test]
async fn compressed_bodies_are_unchanged() {
    let (upstream, gateway) = start(&[]).await;
    let mut client = Socket::connect(&gateway).await;
    client
        .send("GET / HTTP/1.1\r\nhost: a\r\naccept-encoding: gzip, br\r\n\r\n")
        .await;
    let mut service = upstream.accept().await;
    let head = service.read_head().await;
    assert!(head.contains("accept-encoding: gzip, br\r\n"), "{head}");
    let packed = b"\x1f\x8b\x08\x00 packed \xff\xfe";
    service
        .send("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 14\r\n\r\n")
        .await;
    service.send(packed).await;
    let head = client.read_head().await;
    assert!(
        head.contains("content-encoding: gzip\r\n") && head.contains("content-length: 14\r\n"),
        "{head}"
    );
    assert_eq!(client.read_exact(14).await, packed);
}
