//! Requests with `Expect: 100-continue`.

use super::other_clients_are_served;
use crate::gateway::{
    fixture::{Gateway, at_most},
    socket::{Socket, Upstream},
};

const EXPECT_CONTINUE: &str = "POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n";

#[tokio::test]
async fn an_admitted_request_gets_a_100() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), &at_most(1, "methods = ['POST']"), &[]);
    let mut client = Socket::connect(&gateway).await;
    client.send(EXPECT_CONTINUE).await;
    assert_eq!(client.read_head().await, "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("12345").await;
    let mut service = upstream.accept().await;
    service.read_until("\r\n\r\n12345").await;
    service.send("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nyes").await;
    assert_eq!(client.response().await, (200, "yes".to_owned()));
}

#[tokio::test]
async fn a_denied_request_gets_a_429_instead_of_a_100() {
    let service = super::echo().await;
    let gateway = Gateway::with_upstream(&service.url(), &at_most(1, "methods = ['POST']"), &[]);
    let mut client = Socket::connect(&gateway).await;
    client
        .send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n")
        .await;
    assert_eq!(client.response().await.0, 200);
    client.send(EXPECT_CONTINUE).await;
    assert_eq!(client.response().await.0, 429);
    other_clients_are_served(&gateway).await;
}
