//! Clients that say more than fits into a head.

use super::{echo, others_are_answered};
use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    wire::Wire,
};

/// Heads with something long in them.
fn long() -> [String; 4] {
    let long = "a".repeat(1 << 20);
    [
        format!("GET / HTTP/1.1\r\nhost: a\r\nx-long: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nhost: a\r\n{long}: b\r\n\r\n"),
        format!("GET /{long} HTTP/1.1\r\nhost: a\r\n\r\n"),
        format!("GET / HTTP/1.1\r\nhost: a\r\n{}\r\n", "x-more: of it\r\n".repeat(1000)),
    ]
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused_and_the_client_is_told_so() {
    let service = echo().await;
    let gateway = Gateway::to(&service.url(), ANY_NUMBER, &[]);
    others_are_answered(&gateway).await;
    let before = gateway.most_memory();
    for head in long() {
        for _ in 0..20 {
            let mut client = Wire::to(&gateway).await;
            assert_eq!(
                client.say_and_hear(head.as_bytes()).await,
                (431, String::new()),
                "{}",
                &head[..40]
            );
        }
    }
    others_are_answered(&gateway).await;
    let grown = gateway.most_memory() - before;
    assert!(grown < 16 << 20, "it has grown by {grown} bytes");
}

#[tokio::test]
async fn a_head_that_just_fits_is_passed_on() {
    let service = echo().await;
    let gateway = Gateway::to(&service.url(), ANY_NUMBER, &[]);
    let mut client = Wire::to(&gateway).await;
    client
        .say(format!(
            "GET /one HTTP/1.1\r\nhost: a\r\nx-long: {}\r\n\r\n",
            "a".repeat(60 << 10)
        ))
        .await;
    assert_eq!(client.answer().await, (200, "/one".to_owned()));
}
