//! Clients that disconnect before the response.

use crate::gateway::{
    fixture::{COUNT_ONLY, Gateway},
    socket::{Socket, Upstream},
};

#[tokio::test]
async fn a_disconnect_cancels_the_upstream_request() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &["--upstream-timeout", "10m"]);
    for request in [
        "GET / HTTP/1.1\r\nhost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody",
    ] {
        let mut client = Socket::connect(&gateway).await;
        client.send(request).await;
        let mut service = upstream.accept().await;
        service.read_head().await;
        drop(client);
        service.closed().await;
    }
}

#[tokio::test]
async fn a_disconnect_inside_a_body_does_not_end_the_upstream_body() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &[]);
    for body in [
        "content-length: 10\r\n\r\n12345",
        "transfer-encoding: chunked\r\n\r\n5\r\n12345\r\n",
    ] {
        let mut client = Socket::connect(&gateway).await;
        client.send(format!("POST / HTTP/1.1\r\nhost: a\r\n{body}")).await;
        let mut service = upstream.accept().await;
        service.read_until("12345").await;
        drop(client);
        let rest = service.read_to_end().await.unwrap_or_default();
        assert!(!rest.contains("0\r\n\r\n"), "{rest:?}");
    }
}
