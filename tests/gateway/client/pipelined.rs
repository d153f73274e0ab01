//! Clients that ask the next thing before they are answered the last.

use axum::{Router, http::Uri};

use support::http::Server;

use crate::gateway::{
    fixture::{Gateway, at_most},
    wire::Wire,
};

/// Says which path it was asked for, and what came with it.
async fn echo() -> Server {
    Server::start(Router::new().fallback(async |uri: Uri, body: String| format!("{uri} {body}"))).await
}

#[tokio::test]
async fn all_are_answered_in_order_and_each_is_counted_once() {
    let service = echo().await;
    let gateway = Gateway::to(&service.url(), &at_most(7, ""), &[]);
    let mut client = Wire::to(&gateway).await;
    let mut all = String::new();
    for number in 0..10 {
        all += &match number % 3 {
            0 => format!("GET /{number} HTTP/1.1\r\nhost: a\r\n\r\n"),
            1 => format!("POST /{number} HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody"),
            _ => format!(
                "POST /{number} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"
            ),
        };
    }
    client.say(all).await;
    for number in 0..7 {
        let body = if number % 3 == 0 { "" } else { "body" };
        assert_eq!(client.answer().await, (200, format!("/{number} {body}")));
    }
    for _ in 7..10 {
        assert_eq!(client.answer().await.0, 429);
    }
}

#[tokio::test]
async fn whoever_follows_one_that_is_malformed_is_not_answered() {
    let service = echo().await;
    let gateway = Gateway::to(&service.url(), &at_most(7, ""), &[]);
    let mut client = Wire::to(&gateway).await;
    client
        .say("GET /one HTTP/1.1\r\nhost: a\r\n\r\nGET /two\r\n\r\nGET /three HTTP/1.1\r\nhost: a\r\n\r\n")
        .await;
    assert_eq!(client.answer().await, (200, "/one ".to_owned()));
    assert_eq!(client.answer().await.0, 400);
    assert_eq!(client.rest().await.unwrap(), "");
    // Of the first two, only the one that is a request was counted.
    assert_eq!(gateway.get("/four").await.header("x-ratelimit-remaining"), "5");
}
