//! WebSocket upgrades: after the handshake, the gateway copies bytes both ways.

use support::wait::until;

use crate::gateway::{
    connection_limit::until_connected,
    fixture::{COUNT_ONLY, Gateway},
    socket::{Socket, Upstream, status},
};

const UPGRADE_REQUEST: &str = "GET /chat HTTP/1.1\r\nhost: a\r\nconnection: keep-alive, Upgrade\r\nupgrade: WebSocket\r\n\
    sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n";
const UPGRADE_RESPONSE: &str = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
    sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

/// Opens a WebSocket and returns both ends.
pub(crate) async fn open_websocket(upstream: &Upstream, gateway: &Gateway) -> (Socket, Socket) {
    let mut client = Socket::connect(gateway).await;
    client.send(UPGRADE_REQUEST).await;
    let mut service = upstream.accept().await;
    let head = service.read_head().await;
    assert!(
        head.contains("connection: upgrade\r\n") && head.contains("upgrade: websocket\r\n"),
        "{head}"
    );
    assert!(
        head.contains("sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"),
        "{head}"
    );
    service.send(UPGRADE_RESPONSE).await;
    let head = client.read_head().await;
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
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    for client_closes in [true, false] {
        let (mut client, mut service) = open_websocket(&upstream, &gateway).await;
        // The gateway forwards frames without parsing them.
        for frame in [&b"\x81\x02hi"[..], b"\x82\x00", b"GET / HTTP/1.1\r\n\r\n"] {
            client.send(frame).await;
            assert_eq!(service.read_exact(frame.len()).await, frame);
            service.send(frame).await;
            assert_eq!(client.read_exact(frame.len()).await, frame);
        }
        let (closed, mut open) = if client_closes {
            (client, service)
        } else {
            (service, client)
        };
        drop(closed);
        assert_eq!(open.read_to_end().await.unwrap_or_default(), "");
    }
}

/// Longer than a handshake takes on a busy machine.
const SHORT_TIMEOUT: &str = "5s";

#[tokio::test]
async fn both_sides_are_closed_after_either_disconnects() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &["--upstream-timeout", SHORT_TIMEOUT]);
    let before = gateway.open_sockets();
    let (client, _open_service) = open_websocket(&upstream, &gateway).await;
    let (_open_client, service) = open_websocket(&upstream, &gateway).await;
    assert_eq!(gateway.open_sockets(), before + 4);
    // The other ends stay open and send nothing.
    drop((client, service));
    until("all are closed", || gateway.open_sockets() == before);
}

#[tokio::test]
async fn a_side_that_does_not_read_is_disconnected() {
    let upstream = Upstream::start().await;
    let options = ["--client-timeout", SHORT_TIMEOUT, "--upstream-timeout", SHORT_TIMEOUT];
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &options);
    let before = gateway.peak_memory();
    let (client, _service_not_reading) = open_websocket(&upstream, &gateway).await;
    let (_client_not_reading, service) = open_websocket(&upstream, &gateway).await;
    let send = async |mut socket: Socket| {
        let piece = vec![0; 1 << 16];
        while socket.try_send(&piece).await.is_ok() {}
    };
    tokio::join!(send(client), send(service));
    let grown = gateway.peak_memory() - before;
    assert!(grown < 16 << 20, "it has grown by {grown} bytes");
}

#[tokio::test]
async fn a_denied_upgrade_is_a_429() {
    let upstream = Upstream::start().await;
    let rules = COUNT_ONLY.replace("1000000", "1");
    let gateway = Gateway::with_upstream(&upstream.url(), &rules, &[]);
    let _open = open_websocket(&upstream, &gateway).await;
    let mut client = Socket::connect(&gateway).await;
    client.send(UPGRADE_REQUEST).await;
    assert_eq!(client.response().await.0, 429);
}

/// Closes, so that the gateway does not reuse a connection that the test has dropped.
const PLAIN_RESPONSE: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nplain";

/// The gateway could not count requests inside another protocol.
#[tokio::test]
async fn upgrades_to_other_protocols_are_removed() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    let other = "connection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n";
    let both = "connection: upgrade\r\nupgrade: h2c, websocket\r\n";
    let not_in_connection = "upgrade: websocket\r\n";
    for upgrade in [other, both, not_in_connection] {
        let mut client = Socket::connect(&gateway).await;
        client.send(format!("GET / HTTP/1.1\r\nhost: a\r\n{upgrade}\r\n")).await;
        let mut service = upstream.accept().await;
        let head = service.read_head().await;
        assert!(!head.contains("upgrade") && !head.contains("http2-settings"), "{head}");
        service.send(PLAIN_RESPONSE).await;
        assert_eq!(client.response().await, (200, "plain".to_owned()));
    }
}

/// A WebSocket handshake is an HTTP/1.1 GET without a body.
#[tokio::test]
async fn invalid_handshakes_are_forwarded_without_upgrade() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    let upgrade = "host: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n";
    for (line, more) in [
        ("GET / HTTP/1.0", "\r\n"),
        ("POST / HTTP/1.1", "\r\n"),
        ("GET / HTTP/1.1", "content-length: 1\r\n\r\nx"),
    ] {
        let mut client = Socket::connect(&gateway).await;
        client.send(format!("{line}\r\n{upgrade}{more}")).await;
        let mut service = upstream.accept().await;
        let head = service.read_head().await;
        assert!(!head.contains("upgrade"), "{head}");
        service.send(PLAIN_RESPONSE).await;
        assert!(client.read_until("plain").await.contains(" 200 OK\r\n"));
    }
}

#[tokio::test]
async fn a_websocket_counts_as_a_connection() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    let ends = open_websocket(&upstream, &gateway).await;
    until_connected(gateway.admin, 1).await;
    drop(ends);
    until_connected(gateway.admin, 0).await;
}

#[tokio::test]
async fn a_switch_to_another_protocol_is_a_502() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    for headers in ["connection: upgrade\r\nupgrade: h2c\r\n", "connection: upgrade\r\n", ""] {
        let mut client = Socket::connect(&gateway).await;
        client.send(UPGRADE_REQUEST).await;
        let mut service = upstream.accept().await;
        service.read_head().await;
        service
            .send(format!("HTTP/1.1 101 Switching Protocols\r\n{headers}\r\n"))
            .await;
        assert_eq!(client.response().await.0, 502, "{headers}");
        service.closed().await;
    }
}

#[tokio::test]
async fn a_declined_upgrade_is_forwarded() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    let mut client = Socket::connect(&gateway).await;
    client.send(UPGRADE_REQUEST).await;
    let mut service = upstream.accept().await;
    service.read_head().await;
    service
        .send("HTTP/1.1 426 Upgrade Required\r\nupgrade: websocket\r\ncontent-length: 2\r\n\r\nno")
        .await;
    assert_eq!(client.response().await, (426, "no".to_owned()));
}
