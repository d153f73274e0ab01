//! Clients that pipeline requests.

use axum::{Router, http::Uri};

use support::http::Server;

use crate::gateway::{
    fixture::{Gateway, at_most},
    socket::Socket,
};

/// A service that responds with the requested path and the request body.
async fn echo() -> Server {
    Server::start(Router::new().fallback(async |uri: Uri, body: String| format!("{uri} {body}"))).await
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order_and_counted_once() {
    let service = echo().await;
    let gateway = Gateway::with_upstream(&service.url(), &at_most(7, ""), &[]);
    let mut client = Socket::connect(&gateway).await;
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
    client.send(all).await;
    for number in 0..7 {
        let body = if number % 3 == 0 { "" } else { "body" };
        assert_eq!(client.response().await, (200, format!("/{number} {body}")));
    }
    for _ in 7..10 {
        assert_eq!(client.response().await.0, 429);
    }
}

#[tokio::test]
async fn requests_after_a_malformed_one_are_dropped() {
    let service = echo().await;
    let gateway = Gateway::with_upstream(&service.url(), &at_most(7, ""), &[]);
    let mut client = Socket::connect(&gateway).await;
    client
        .send("GET /one HTTP/1.1\r\nhost: a\r\n\r\nGET /two\r\n\r\nGET /three HTTP/1.1\r\nhost: a\r\n\r\n")
        .await;
    assert_eq!(client.response().await, (200, "/one ".to_owned()));
    assert_eq!(client.response().await.0, 400);
    assert_eq!(client.read_to_end().await.unwrap(), "");
    // Of the three, only the well-formed one before the error was counted.
    assert_eq!(gateway.get("/four").await.header("x-ratelimit-remaining"), "5");
}
