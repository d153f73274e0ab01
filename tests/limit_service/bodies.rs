//! Bodies of checks, which are not needed: the connection stays usable, or is closed after the response.

use super::fixture::{LimitService, limit};
use crate::server_process::socket::{Socket, status};

const DESCRIPTION: &str = "x-forwarded-method: GET\r\nx-forwarded-uri: /";

fn rules() -> String {
    limit("all", 3, "key = 'global'")
}

async fn send(proxy: &mut Socket, method: &str, headers: &str, body: &[u8]) {
    let head = format!("{method} /check HTTP/1.1\r\nhost: a\r\n{DESCRIPTION}\r\n{headers}\r\n");
    proxy.send(head).await;
    proxy.send(body).await;
}

#[tokio::test]
async fn a_connection_is_reused_after_a_body() {
    let service = LimitService::start(&rules(), &[]);
    let mut proxy = service.connect().await;
    send(&mut proxy, "POST", "content-length: 5\r\n", b"12345").await;
    assert_eq!(proxy.response().await, (200, String::new()));
    send(
        &mut proxy,
        "POST",
        "transfer-encoding: chunked\r\n",
        b"3\r\n123\r\n0\r\n\r\n",
    )
    .await;
    assert_eq!(proxy.response().await, (200, String::new()));
    send(&mut proxy, "GET", "", b"").await;
    assert_eq!(proxy.response().await, (200, String::new()));
    let half = vec![0; 500 << 10];
    send(&mut proxy, "POST", "content-length: 1024000\r\n", &half).await;
    proxy.send(&half).await;
    assert_eq!(proxy.response().await.0, 429);
    send(&mut proxy, "GET", "", b"").await;
    assert_eq!(proxy.response().await.0, 429);
}

#[tokio::test]
async fn a_connection_is_reused_after_head() {
    let service = LimitService::start(&limit("all", 1, "key = 'global'"), &[]);
    let mut proxy = service.connect().await;
    for code in [200, 429, 429] {
        send(&mut proxy, "HEAD", "", b"").await;
        assert_eq!(status(&proxy.read_head().await), code);
    }
    send(&mut proxy, "GET", "", b"").await;
    assert_eq!(proxy.response().await.0, 429);
}

/// The response arrives, although the rest of the body is not read.
#[tokio::test]
async fn a_connection_is_closed_after_a_long_body() {
    const LONG: usize = 4 << 20;
    let service = LimitService::start(&rules(), &[]);
    for (headers, body) in [
        (format!("content-length: {LONG}\r\n"), vec![0; LONG]),
        (
            "transfer-encoding: chunked\r\n".to_owned(),
            [
                format!("{LONG:x}\r\n").into_bytes(),
                vec![0; LONG],
                b"\r\n0\r\n\r\n".to_vec(),
            ]
            .concat(),
        ),
    ] {
        let mut proxy = service.connect().await;
        send(&mut proxy, "POST", &headers, &body).await;
        assert_eq!(proxy.response().await, (200, String::new()));
        assert_eq!(proxy.read_to_end().await.unwrap(), "");
    }
}

#[tokio::test]
async fn a_body_that_waits_for_100_is_not_requested() {
    let service = LimitService::start(&rules(), &[]);
    let mut proxy = service.connect().await;
    send(&mut proxy, "POST", "expect: 100-continue\r\ncontent-length: 5\r\n", b"").await;
    assert_eq!(proxy.response().await, (200, String::new()));
    assert_eq!(proxy.read_to_end().await.unwrap(), "");
    // A copied header without a body changes nothing.
    let mut proxy = service.connect().await;
    for _ in 0..2 {
        send(&mut proxy, "GET", "expect: 100-continue\r\n", b"").await;
        assert_eq!(proxy.response().await, (200, String::new()));
    }
}

/// The limits have decided; the service does not wait longer for a body.
#[tokio::test]
async fn a_stalled_body_is_answered_after_the_client_timeout() {
    let service = LimitService::start(&rules(), &["--client-timeout", "5s"]);
    let mut proxy = service.connect().await;
    send(&mut proxy, "POST", "content-length: 5\r\n", b"12").await;
    assert_eq!(proxy.response().await, (200, String::new()));
    assert_eq!(proxy.read_to_end().await.unwrap(), "");
}
