//! Services that do not stop answering, or do not wait for the question to end.

use super::{Moody, others_are_answered};
use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    wire::{Upstream, Wire, patiently, status},
};

/// Far more than the gateway may hold.
const A_LOT: usize = 256 << 20;

#[tokio::test]
async fn one_that_never_stops_is_passed_on_in_little_memory_until_the_client_leaves() {
    let (left, mut has_left) = tokio::sync::mpsc::channel(1);
    let upstream = Moody::start(move |_, mut wire| {
        let left = left.clone();
        async move {
            wire.say("HTTP/1.1 200 OK\r\n\r\n").await;
            let piece = vec![b'a'; 1 << 20];
            while wire.try_say(&piece).await.is_ok() {}
            left.send(()).await.unwrap();
        }
    })
    .await;
    let gateway = Gateway::to(&upstream.url, ANY_NUMBER, &[]);
    others_are_answered(&gateway).await;
    let before = gateway.most_memory();
    let mut client = Wire::to(&gateway).await;
    client.say("GET /endless HTTP/1.1\r\nhost: a\r\n\r\n").await;
    for _ in 0..A_LOT >> 20 {
        client.take(1 << 20).await;
    }
    others_are_answered(&gateway).await;
    let grown = gateway.most_memory() - before;
    assert!(grown < 16 << 20, "it has grown by {grown} bytes");
    drop(client);
    patiently(has_left.recv()).await.unwrap();
}

#[tokio::test]
async fn an_answer_that_comes_before_the_question_has_ended_is_passed_on_and_ends_it() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &[]);
    let mut client = Wire::to(&gateway).await;
    client
        .say("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\n12345")
        .await;
    let mut service = upstream.accept().await;
    service.until("12345").await;
    service
        .say("HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno")
        .await;
    assert_eq!(client.answer().await, (403, "no".to_owned()));
    // Neither of them closes by itself.
    service.gone().await;
    client.gone().await;
}

#[tokio::test]
async fn one_of_http_1_0_without_a_length_ends_with_its_connection() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &[]);
    let mut client = Wire::to(&gateway).await;
    client.say("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut service = upstream.accept().await;
    service.head().await;
    service.say("HTTP/1.0 200 Fine\r\n\r\nall of it").await;
    drop(service);
    let head = client.head().await;
    assert_eq!(status(&head), 200);
    assert!(head.contains("transfer-encoding: chunked"), "{head}");
    assert_eq!(client.until("0\r\n\r\n").await, "9\r\nall of it\r\n0\r\n\r\n");
}
