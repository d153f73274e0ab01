//! Heads that exceed the maximum size.

use super::{echo, other_clients_are_served};
use crate::gateway::{
    fixture::{COUNT_ONLY, Gateway},
    socket::Socket,
};

/// Heads with a long header value, header name, target, and list of headers.
fn oversized_heads() -> [String; 4] {
    let long = "a".repeat(1 << 20);
    [
        format!("GET / HTTP/1.1\r\nhost: a\r\nx-long: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nhost: a\r\n{long}: b\r\n\r\n"),
        format!("GET /{long} HTTP/1.1\r\nhost: a\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nhost: a\r\n{}\r\n", "x-more: of it\r\n".repeat(1000)),
    ]
}

#[tokio::test]
async fn an_oversized_head_is_a_431() {
    let service = echo().await;
    let gateway = Gateway::with_upstream(&service.url(), COUNT_ONLY, &[]);
    other_clients_are_served(&gateway).await;
    let before = gateway.peak_memory();
    for head in oversized_heads() {
        for _ in 0..20 {
            let mut client = Socket::connect(&gateway).await;
            assert_eq!(
                client.send_and_receive(head.as_bytes()).await,
                (431, String::new()),
                "{}",
                &head[..40]
            );
        }
    }
    other_clients_are_served(&gateway).await;
    let grown = gateway.peak_memory() - before;
    assert!(grown < 16 << 20, "it has grown by {grown} bytes");
}

#[tokio::test]
async fn a_head_below_the_maximum_is_forwarded() {
    let service = echo().await;
    let gateway = Gateway::with_upstream(&service.url(), COUNT_ONLY, &[]);
    let mut client = Socket::connect(&gateway).await;
    client
        .send(format!(
            "GET /one HTTP/1.1\r\nhost: a\r\nx-long: {}\r\n\r\n",
            "a".repeat(60 << 10)
        ))
        .await;
    assert_eq!(client.response().await, (200, "/one".to_owned()));
}
