//! Clients that ask, and do not listen.

use axum::{Router, http::Uri, routing::get};
use tokio::sync::mpsc;

use support::http::Server;

use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    wire::{Upstream, Wire, patiently},
};

/// A service that answers `/endless` without an end, and tells when it could say no more of it.
async fn endless(cut: mpsc::UnboundedSender<()>, mut wire: Wire) {
    let head = wire.head().await;
    if head.starts_with("GET /endless ") {
        wire.say("HTTP/1.1 200 OK\r\n\r\n").await;
        let piece = vec![b'a'; 1 << 16];
        while wire.try_say(&piece).await.is_ok() {}
        cut.send(()).unwrap();
    } else {
        wire.say("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 4\r\n\r\nwell")
            .await;
    }
}

/// With more than one thread, since the service is busy enough to keep others from asking in time.
#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_who_never_read_are_cut_off_in_little_memory_and_delay_nobody() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &["--client-timeout", "5s"]);
    let before = gateway.most_memory();
    let mut clients = Vec::new();
    for _ in 0..200 {
        let mut client = Wire::small_to(&gateway).await;
        client.say("GET /endless HTTP/1.1\r\nhost: a\r\n\r\n").await;
        clients.push(client);
    }
    let (cut, mut is_cut) = mpsc::unbounded_channel();
    let service = tokio::spawn(upstream.serve(move |wire| endless(cut.clone(), wire)));
    for _ in 0..200 {
        assert_eq!(Wire::get(&gateway, "/").await.1, "well");
        patiently(is_cut.recv()).await.unwrap();
    }
    let grown = gateway.most_memory() - before;
    assert!(grown < 128 << 20, "it has grown by {grown} bytes");
    for client in clients {
        client.gone().await;
    }
    service.abort();
}

#[tokio::test]
async fn who_asks_on_and_on_and_never_reads_is_cut_off() {
    // Large, so that few answers fill what the system holds for a client that does not read.
    let large = get(async || "a".repeat(1 << 16));
    let echo = async |uri: Uri| uri.to_string();
    let service = Server::start(Router::new().route("/large", large).fallback(echo)).await;
    let gateway = Gateway::to(&service.url(), ANY_NUMBER, &["--client-timeout", "5s"]);
    super::others_are_answered(&gateway).await;
    let before = gateway.most_memory();
    let mut client = Wire::small_to(&gateway).await;
    while client.try_say("GET /large HTTP/1.1\r\nhost: a\r\n\r\n").await.is_ok() {}
    let grown = gateway.most_memory() - before;
    assert!(grown < 16 << 20, "it has grown by {grown} bytes");
    super::others_are_answered(&gateway).await;
}
