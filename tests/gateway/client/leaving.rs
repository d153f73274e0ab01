//! Clients that do not wait for their answer.

use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    wire::{Upstream, Wire},
};

#[tokio::test]
async fn who_leaves_while_waiting_is_not_worked_for_any_longer() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &["--upstream-timeout", "10m"]);
    for request in [
        "GET / HTTP/1.1\r\nhost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody",
    ] {
        let mut client = Wire::to(&gateway).await;
        client.say(request).await;
        let mut service = upstream.accept().await;
        service.head().await;
        drop(client);
        service.gone().await;
    }
}

#[tokio::test]
async fn who_leaves_in_the_middle_of_a_body_has_not_sent_one() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &[]);
    for body in [
        "content-length: 10\r\n\r\n12345",
        "transfer-encoding: chunked\r\n\r\n5\r\n12345\r\n",
    ] {
        let mut client = Wire::to(&gateway).await;
        client.say(format!("POST / HTTP/1.1\r\nhost: a\r\n{body}")).await;
        let mut service = upstream.accept().await;
        service.until("12345").await;
        drop(client);
        let rest = service.rest().await.unwrap_or_default();
        assert!(!rest.contains("0\r\n\r\n"), "{rest:?}");
    }
}
