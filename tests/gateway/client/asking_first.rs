//! Clients that ask whether they may send a body: `Expect: 100-continue`.

use super::others_are_answered;
use crate::gateway::{
    fixture::{Gateway, at_most},
    wire::{Upstream, Wire},
};

const ASKS: &str = "POST / HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n";

#[tokio::test]
async fn who_is_admitted_may_go_on() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), &at_most(1, "methods = ['POST']"), &[]);
    let mut client = Wire::to(&gateway).await;
    client.say(ASKS).await;
    assert_eq!(client.head().await, "HTTP/1.1 100 Continue\r\n\r\n");
    client.say("12345").await;
    let mut service = upstream.accept().await;
    service.until("\r\n\r\n12345").await;
    service.say("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nyes").await;
    assert_eq!(client.answer().await, (200, "yes".to_owned()));
}

#[tokio::test]
async fn who_is_refused_is_told_so_and_need_not_send() {
    let service = super::echo().await;
    let gateway = Gateway::to(&service.url(), &at_most(1, "methods = ['POST']"), &[]);
    let mut client = Wire::to(&gateway).await;
    client
        .say("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n")
        .await;
    assert_eq!(client.answer().await.0, 200);
    client.say(ASKS).await;
    // Not 100.
    assert_eq!(client.answer().await.0, 429);
    others_are_answered(&gateway).await;
}
