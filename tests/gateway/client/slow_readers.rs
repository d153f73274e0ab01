//! Clients that send requests and never read the responses.

use axum::{Router, http::Uri, routing::get};
use tokio::sync::mpsc;

use support::http::Server;

use crate::gateway::{
    fixture::{COUNT_ONLY, Gateway},
    socket::{Socket, Upstream, with_timeout},
};

/// Streams an endless response at `/endless`, and reports when the gateway closes the connection.
async fn endless(closed: mpsc::UnboundedSender<()>, mut socket: Socket) {
    let head = socket.read_head().await;
    if head.starts_with("GET /endless ") {
        socket.send("HTTP/1.1 200 OK\r\n\r\n").await;
        let piece = vec![b'a'; 1 << 16];
        while socket.try_send(&piece).await.is_ok() {}
        closed.send(()).unwrap();
    } else {
        socket
            .send("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 4\r\n\r\nwell")
            .await;
    }
}

/// Multi-threaded: on one thread, the busy service would delay the other clients past their timeouts.
#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_clients_that_never_read_are_disconnected_in_bounded_memory() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &["--client-timeout", "5s"]);
    let before = gateway.peak_memory();
    let mut clients = Vec::new();
    for _ in 0..200 {
        let mut client = Socket::with_small_buffer(&gateway).await;
        client.send("GET /endless HTTP/1.1\r\nhost: a\r\n\r\n").await;
        clients.push(client);
    }
    let (closed, mut is_closed) = mpsc::unbounded_channel();
    let service = tokio::spawn(upstream.serve(move |socket| endless(closed.clone(), socket)));
    for _ in 0..200 {
        assert_eq!(Socket::get(&gateway, "/").await.1, "well");
        with_timeout(is_closed.recv()).await.unwrap();
    }
    let grown = gateway.peak_memory() - before;
    assert!(grown < 128 << 20, "it has grown by {grown} bytes");
    for client in clients {
        client.closed().await;
    }
    service.abort();
}

#[tokio::test]
async fn a_pipelining_client_that_never_reads_is_disconnected() {
    // Large responses fill the socket buffers of a client that does not read sooner.
    let large = get(async || "a".repeat(1 << 16));
    let echo = async |uri: Uri| uri.to_string();
    let service = Server::start(Router::new().route("/large", large).fallback(echo)).await;
    let gateway = Gateway::with_upstream(&service.url(), COUNT_ONLY, &["--client-timeout", "5s"]);
    super::other_clients_are_served(&gateway).await;
    let before = gateway.peak_memory();
    let mut client = Socket::with_small_buffer(&gateway).await;
    while client.try_send("GET /large HTTP/1.1\r\nhost: a\r\n\r\n").await.is_ok() {}
    let grown = gateway.peak_memory() - before;
    assert!(grown < 16 << 20, "it has grown by {grown} bytes");
    super::other_clients_are_served(&gateway).await;
}
