//! WebSockets: both sides agree through the gateway, and then it is not in between.

use support::patience::until;

use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    room::until_connected,
    wire::{Upstream, Wire, status},
};

const WISH: &str = "GET /chat HTTP/1.1\r\nhost: a\r\nconnection: keep-alive, Upgrade\r\nupgrade: WebSocket\r\n\
    sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n";
const GRANTED: &str = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
    sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// Both ends of a tunnel.
pub(crate) async fn tunnel(upstream: &Upstream, gateway: &Gateway) -> (Wire, Wire) {
    let mut client = Wire::to(gateway).await;
    client.say(WISH).await;
    let mut service = upstream.accept().await;
    let head = service.head().await;
    assert!(
        head.contains("connection: upgrade\r\n") && head.contains("upgrade: websocket\r\n"),
        "{head}"
    );
    assert!(
        head.contains("sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"),
        "{head}"
    );
    service.say(GRANTED).await;
    let head = client.head().await;
    assert_eq!(status(&head), 101);
    assert!(
        head.contains("connection: upgrade\r\n") && head.contains("upgrade: websocket\r\n"),
        "{head}"
    );
    assert!(
        head.contains("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"),
        "{head}"
    );
    (client, service)
}

#[tokio::test]
async fn bytes_pass_both_ways_until_either_side_closes() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &[]);
    for client_closes in [true, false] {
        let (mut client, mut service) = tunnel(&upstream, &gateway).await;
        // Frames, though nobody but the two needs to know.
        for frame in [&b"\x81\x02hi"[..], b"\x82\x00", b"GET / HTTP/1.1\r\n\r\n"] {
            client.say(frame).await;
            assert_eq!(service.take(frame.len()).await, frame);
            service.say(frame).await;
            assert_eq!(client.take(frame.len()).await, frame);
        }
        let (leaves, mut stays) = if client_closes {
            (client, service)
        } else {
            (service, client)
        };
        drop(leaves);
        assert_eq!(stays.rest().await.unwrap_or_default(), "");
    }
}

/// Expires after a tunnel is open, and not before: agreeing takes a moment, however busy the machine is.
const SOON: &str = "5s";

#[tokio::test]
async fn one_side_is_not_kept_open_for_long_when_the_other_has_left() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &["--upstream-timeout", SOON]);
    let before = gateway.open_sockets();
    let (client, _service_stays) = tunnel(&upstream, &gateway).await;
    let (_client_stays, service) = tunnel(&upstream, &gateway).await;
    assert_eq!(gateway.open_sockets(), before + 4);
    // The others stay, and say nothing.
    drop((client, service));
    until("all are closed", || gateway.open_sockets() == before);
}

#[tokio::test]
async fn who_does_not_take_what_it_is_sent_is_cut_off() {
    let upstream = Upstream::start().await;
    let options = ["--client-timeout", SOON, "--upstream-timeout", SOON];
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &options);
    let before = gateway.most_memory();
    let (client, _deaf_service) = tunnel(&upstream, &gateway).await;
    let (_deaf_client, service) = tunnel(&upstream, &gateway).await;
    let send = async |mut wire: Wire| {
        let piece = vec![0; 1 << 16];
        while wire.try_say(&piece).await.is_ok() {}
    };
    tokio::join!(send(client), send(service));
    let grown = gateway.most_memory() - before;
    assert!(grown < 16 << 20, "it has grown by {grown} bytes");
}

#[tokio::test]
async fn who_is_refused_has_no_tunnel() {
    let upstream = Upstream::start().await;
    let rules = ANY_NUMBER.replace("1000000", "1");
    let gateway = Gateway::to(&upstream.url(), &rules, &[]);
    let _open = tunnel(&upstream, &gateway).await;
    let mut client = Wire::to(&gateway).await;
    client.say(WISH).await;
    assert_eq!(client.answer().await.0, 429);
}

/// It closes, or the next request might come over the connection that this test has let go of.
const PLAIN: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nplain";

/// Who is let through to another protocol could ask there for what nobody counts.
#[tokio::test]
async fn no_other_protocol_can_be_switched_to() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &[]);
    let other = "connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n";
    let both = "connection: upgrade\r\nupgrade: h2c, websocket\r\n";
    let unsaid = "upgrade: websocket\r\n";
    for wish in [other, both, unsaid] {
        let mut client = Wire::to(&gateway).await;
        client.say(format!("GET / HTTP/1.1\r\nhost: a\r\n{wish}\r\n")).await;
        let mut service = upstream.accept().await;
        let head = service.head().await;
        assert!(!head.contains("upgrade") && !head.contains("http2-settings"), "{head}");
        service.say(PLAIN).await;
        assert_eq!(client.answer().await, (200, "plain".to_owned()));
    }
}

/// A WebSocket begins with a GET of HTTP/1.1 that has no body.
#[tokio::test]
async fn nobody_else_can_wish_for_one() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &[]);
    let wish = "host: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n";
    for (line, more) in [
        ("GET / HTTP/1.0", "\r\n"),
        ("POST / HTTP/1.1", "\r\n"),
        ("GET / HTTP/1.1", "content-length: 1\r\n\r\nx"),
    ] {
        let mut client = Wire::to(&gateway).await;
        client.say(format!("{line}\r\n{wish}{more}")).await;
        let mut service = upstream.accept().await;
        let head = service.head().await;
        assert!(!head.contains("upgrade"), "{head}");
        service.say(PLAIN).await;
        assert!(client.until("plain").await.contains(" 200 OK\r\n"));
    }
}

#[tokio::test]
async fn one_is_a_connection_for_as_long_as_it_lasts() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &[]);
    let ends = tunnel(&upstream, &gateway).await;
    until_connected(gateway.admin, 1).await;
    drop(ends);
    until_connected(gateway.admin, 0).await;
}

#[tokio::test]
async fn a_service_that_switches_to_something_else_is_a_502() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &[]);
    for granted in ["connection: upgrade\r\nupgrade: h2c\r\n", "connection: upgrade\r\n", ""] {
        let mut client = Wire::to(&gateway).await;
        client.say(WISH).await;
        let mut service = upstream.accept().await;
        service.head().await;
        service
            .say(format!("HTTP/1.1 101 Switching Protocols\r\n{granted}\r\n"))
            .await;
        assert_eq!(client.answer().await.0, 502, "{granted}");
        service.gone().await;
    }
}

#[tokio::test]
async fn a_service_that_does_not_want_one_answers_as_ever() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &[]);
    let mut client = Wire::to(&gateway).await;
    client.say(WISH).await;
    let mut service = upstream.accept().await;
    service.head().await;
    service
        .say("HTTP/1.1 426 Upgrade Required\r\nupgrade: websocket\r\ncontent-length: 2\r\n\r\nno")
        .await;
    assert_eq!(client.answer().await, (426, "no".to_owned()));
}
