//! Bodies, as they are: piece by piece, in either direction, and none where there is none.

use std::time::{Duration, Instant};

use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    wire::{Upstream, Wire, status},
};

/// How a body of two pieces is announced, and its pieces.
const TWO_PIECES: [(&str, [&str; 2]); 2] = [
    ("content-length: 11", ["first", "second"]),
    (
        "transfer-encoding: chunked",
        ["5\r\nfirst\r\n", "6\r\nsecond\r\n0\r\n\r\n"],
    ),
];

async fn in_between(options: &[&str]) -> (Upstream, Gateway) {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, options);
    (upstream, gateway)
}

/// Said by a service that is about to be dropped: else the next request might come over the connection that nobody serves.
const CLOSES: &str = "connection: close\r\n";

#[tokio::test]
async fn the_service_gets_a_piece_before_the_client_has_sent_the_next() {
    let (upstream, gateway) = in_between(&[]).await;
    for (framing, [first, second]) in TWO_PIECES {
        let mut client = Wire::to(&gateway).await;
        client
            .say(format!("PUT / HTTP/1.1\r\nhost: a\r\n{framing}\r\n\r\n{first}"))
            .await;
        let mut service = upstream.accept().await;
        let head = service.head().await;
        assert!(head.contains(&format!("{framing}\r\n")), "{head}");
        service.until(first).await;
        client.say(second).await;
        assert_eq!(service.until(second).await, second);
        service
            .say(format!("HTTP/1.1 201 Created\r\n{CLOSES}content-length: 0\r\n\r\n"))
            .await;
        assert_eq!(client.answer().await.0, 201);
    }
}

#[tokio::test]
async fn the_client_gets_a_piece_before_the_service_has_sent_the_next() {
    let (upstream, gateway) = in_between(&[]).await;
    for (framing, [first, second]) in TWO_PIECES {
        let mut client = Wire::to(&gateway).await;
        client.say("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
        let mut service = upstream.accept().await;
        service.head().await;
        service
            .say(format!("HTTP/1.1 200 OK\r\n{CLOSES}{framing}\r\n\r\n{first}"))
            .await;
        let head = client.head().await;
        assert!(head.contains(&format!("{framing}\r\n")), "{head}");
        client.until(first).await;
        service.say(second).await;
        assert_eq!(client.until(second).await, second);
    }
}

/// A client that sends a piece only after it has heard one, as in a conversation.
#[tokio::test]
async fn both_directions_can_be_open_at_once() {
    let (upstream, gateway) = in_between(&[]).await;
    let mut client = Wire::to(&gateway).await;
    client
        .say("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n")
        .await;
    let mut service = upstream.accept().await;
    service.head().await;
    service
        .say("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        .await;
    client.head().await;
    for number in 0..100 {
        let piece = format!("3\r\n{number:03}\r\n");
        client.say(&piece).await;
        assert_eq!(service.until(&piece).await, piece);
        service.say(&piece).await;
        assert_eq!(client.until(&piece).await, piece);
    }
}

const PIECES: usize = 100;

/// A hundred of them are a hundred megabytes, no two of which are the same.
fn piece(number: usize) -> Vec<u8> {
    vec![number as u8; 1 << 20]
}

/// Its first line and its last, where it comes in chunks.
fn framed(number: usize, chunked: bool) -> Vec<u8> {
    match chunked {
        false => piece(number),
        true => [b"100000\r\n", &*piece(number), b"\r\n"].concat(),
    }
}

/// The next piece, however many chunks it comes in.
async fn next(wire: &mut Wire, chunked: bool, left: &mut usize) -> Vec<u8> {
    let mut piece = Vec::new();
    while piece.len() < 1 << 20 {
        if chunked && *left == 0 {
            let line = wire.until("\r\n").await;
            *left = usize::from_str_radix(line.trim(), 16).unwrap();
        }
        let want = (1 << 20) - piece.len();
        let count = if chunked { want.min(*left) } else { want };
        piece.extend(wire.take(count).await);
        if chunked {
            *left -= count;
            if *left == 0 {
                wire.take(2).await;
            }
        }
    }
    piece
}

async fn send(wire: &mut Wire, chunked: bool) {
    for number in 0..PIECES {
        wire.say(framed(number, chunked)).await;
    }
    if chunked {
        wire.say("0\r\n\r\n").await;
    }
}

async fn receive(wire: &mut Wire, chunked: bool) {
    let mut left = 0;
    for number in 0..PIECES {
        assert!(next(wire, chunked, &mut left).await == piece(number), "{number}");
    }
    if chunked {
        assert_eq!(wire.until("\r\n\r\n").await, "0\r\n\r\n");
    }
}

#[tokio::test]
async fn a_hundred_megabytes_up_and_down_take_little_memory() {
    let (upstream, gateway) = in_between(&[]).await;
    let before = gateway.most_memory();
    for chunked in [false, true] {
        let framing = match chunked {
            false => format!("content-length: {}", PIECES << 20),
            true => "transfer-encoding: chunked".to_owned(),
        };
        let mut client = Wire::to(&gateway).await;
        client
            .say(format!("POST / HTTP/1.1\r\nhost: a\r\n{framing}\r\n\r\n"))
            .await;
        let mut service = upstream.accept().await;
        service.head().await;
        tokio::join!(send(&mut client, chunked), receive(&mut service, chunked));
        service
            .say(format!("HTTP/1.1 200 OK\r\n{CLOSES}{framing}\r\n\r\n"))
            .await;
        client.head().await;
        tokio::join!(send(&mut service, chunked), receive(&mut client, chunked));
    }
    let grown = gateway.most_memory() - before;
    assert!(grown < 16 << 20, "it has grown by {grown} bytes");
}

#[tokio::test]
async fn an_upload_may_take_longer_than_an_answer_as_long_as_it_moves() {
    let (upstream, gateway) = in_between(&["--upstream-timeout", "2s"]).await;
    let mut client = Wire::to(&gateway).await;
    client
        .say("POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n")
        .await;
    let mut service = upstream.accept().await;
    service.head().await;
    // Since then at the latest, the gateway waits for an answer. That the time passes is what this is about.
    let waits = Instant::now();
    let mut number = 0;
    while waits.elapsed() < Duration::from_secs(3) {
        let piece = format!("8\r\n{number:08}\r\n");
        client.say(&piece).await;
        assert_eq!(service.until(&piece).await, piece);
        number += 1;
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // It is the client's turn now, and so the service has any time to answer.
    service.say("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    assert_eq!(client.answer().await.0, 200);
}

/// A client could say there what only proxies may.
#[tokio::test]
async fn trailers_of_an_answer_pass_and_those_of_a_request_do_not() {
    let (upstream, gateway) = in_between(&[]).await;
    let mut client = Wire::to(&gateway).await;
    let trailed = "transfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n3\r\nabc\r\n0\r\nx-sum: 6\r\n\r\n";
    client
        .say(format!("POST / HTTP/1.1\r\nhost: a\r\nte: trailers\r\n{trailed}"))
        .await;
    let mut service = upstream.accept().await;
    let head = service.head().await;
    assert!(
        !head.contains("trailer:") && head.contains("te: trailers\r\n"),
        "{head}"
    );
    assert_eq!(service.until("\r\n\r\n").await, "3\r\nabc\r\n0\r\n\r\n");
    service.say(format!("HTTP/1.1 200 OK\r\n{trailed}")).await;
    assert_eq!(status(&client.head().await), 200);
    assert_eq!(client.until("\r\n\r\n").await, "3\r\nabc\r\n0\r\nx-sum: 6\r\n\r\n");
}

/// What is asked, an answer that has no body though it may tell of one, and the length that the client is told.
const BODILESS: [(&str, &str, &str); 4] = [
    ("HEAD", "200 OK\r\ncontent-length: 10", "content-length: 10"),
    ("HEAD", "200 OK\r\ntransfer-encoding: chunked", ""),
    ("GET", "304 Not Modified\r\ncontent-length: 10", ""),
    ("GET", "204 No Content", ""),
];

#[tokio::test]
async fn an_answer_without_a_body_has_none_and_the_next_one_follows() {
    let (upstream, gateway) = in_between(&[]).await;
    let mut client = Wire::to(&gateway).await;
    for (method, answer, length) in BODILESS {
        client.say(format!("{method} / HTTP/1.1\r\nhost: a\r\n\r\n")).await;
        let mut service = upstream.accept().await;
        service.head().await;
        service.say(format!("HTTP/1.1 {answer}\r\n{CLOSES}\r\n")).await;
        let head = client.head().await;
        assert_eq!(status(&head).to_string(), answer[..3], "{answer}");
        let told = head
            .lines()
            .find(|line| line.starts_with("content-length"))
            .unwrap_or_default();
        assert_eq!(told, length, "{method} {answer}");
    }
}

#[tokio::test]
async fn a_request_without_a_body_announces_none() {
    let (upstream, gateway) = in_between(&[]).await;
    for method in ["GET", "POST", "DELETE", "HEAD"] {
        let mut client = Wire::to(&gateway).await;
        client.say(format!("{method} / HTTP/1.1\r\nhost: a\r\n\r\n")).await;
        let head = upstream.accept().await.head().await;
        assert!(
            !head.contains("content-length") && !head.contains("transfer-encoding"),
            "{head}"
        );
    }
    let mut client = Wire::to(&gateway).await;
    client
        .say("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n")
        .await;
    let head = upstream.accept().await.head().await;
    assert!(
        head.contains("content-length: 0\r\n") && !head.contains("transfer-encoding"),
        "{head}"
    );
}

#[tokio::test]
async fn what_is_compressed_stays_as_it_is() {
    let (upstream, gateway) = in_between(&[]).await;
    let mut client = Wire::to(&gateway).await;
    client
        .say("GET / HTTP/1.1\r\nhost: a\r\naccept-encoding: gzip, br\r\n\r\n")
        .await;
    let mut service = upstream.accept().await;
    let head = service.head().await;
    assert!(head.contains("accept-encoding: gzip, br\r\n"), "{head}");
    let packed = b"\x1f\x8b\x08\x00 packed \xff\xfe";
    service
        .say("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 14\r\n\r\n")
        .await;
    service.say(packed).await;
    let head = client.head().await;
    assert!(
        head.contains("content-encoding: gzip\r\n") && head.contains("content-length: 14\r\n"),
        "{head}"
    );
    assert_eq!(client.take(14).await, packed);
}
