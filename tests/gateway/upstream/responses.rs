//! Responses that are endless, early, or end with the connection.

use super::{FaultyUpstream, other_clients_are_served};
use crate::gateway::{
    fixture::{COUNT_ONLY, Gateway},
    socket::{Socket, Upstream, status, with_timeout},
};

/// Far more than the gateway may buffer.
const BYTES: usize = 256 << 20;

#[tokio::test]
async fn an_endless_response_is_streamed_in_bounded_memory_until_the_client_disconnects() {
    let (closed, mut is_closed) = tokio::sync::mpsc::channel(1);
    let upstream = FaultyUpstream::start(move |_, mut socket| {
        let closed = closed.clone();
        async move {
            socket.send("HTTP/1.1 200 OK\r\n\r\n").await;
            let piece = vec![b'a'; 1 << 20];
            while socket.try_send(&piece).await.is_ok() {}
            closed.send(()).await.unwrap();
        }
    })
    .await;
    let gateway = Gateway::with_upstream(&upstream.url, COUNT_ONLY, &[]);
    other_clients_are_served(&gateway).await;
    let before = gateway.peak_memory();
    let mut client = Socket::connect(&gateway).await;
    client.send("GET /endless HTTP/1.1\r\nhost: a\r\n\r\n").await;
    for _ in 0..BYTES >> 20 {
        client.read_exact(1 << 20).await;
    }
    other_clients_are_served(&gateway).await;
    let grown = gateway.peak_memory() - before;
    assert!(grown < 16 << 20, "it has grown by {grown} bytes");
    drop(client);
    with_timeout(is_closed.recv()).await.unwrap();
}

#[tokio::test]
async fn an_early_response_is_forwarded_and_ends_the_request() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    let mut client = Socket::connect(&gateway).await;
    client
        .send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n12345")
        .await;
    let mut service = upstream.accept().await;
    service.read_until("12345").await;
    service
        .send("HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno")
        .await;
    assert_eq!(client.response().await, (403, "no".to_owned()));
    // The gateway closes both connections.
    service.closed().await;
    client.closed().await;
}

#[tokio::test]
async fn an_http_1_0_response_without_a_length_ends_with_its_connection() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    let mut client = Socket::connect(&gateway).await;
    client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut service = upstream.accept().await;
    service.read_head().await;
    service.send("HTTP/1.0 200 Fine\r\n\r\nall of it").await;
    drop(service);
    let head = client.read_head().await;
    assert_eq!(status(&head), 200);
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    assert_eq!(client.read_until("0\r\n\r\n").await, "9\r\nall of it\r\n0\r\n\r\n");
}
