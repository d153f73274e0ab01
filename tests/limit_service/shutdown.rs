//! Graceful shutdown.

use axum::http::Method;
use tokio::net::TcpStream;

use super::fixture::{LimitService, limit};
use crate::server_process::socket::{Socket, status};
use support::wait::eventually;

const HEAD: &str =
    "POST /check HTTP/1.1\r\nhost: a\r\nx-forwarded-method: GET\r\nx-forwarded-uri: /\r\ncontent-length: 5\r\n\r\n";

/// A check that the limits have admitted, and whose body has not ended.
async fn in_flight(options: &[&str]) -> (LimitService, Socket) {
    let service = LimitService::start(&limit("all", 10, "key = 'global'"), options);
    let mut proxy = service.connect().await;
    proxy.send(HEAD).await;
    eventually("it is counted", async || service.answers("passed").await == 1.0).await;
    (service, proxy)
}

/// Waits until the service accepts no more connections.
async fn until_closed(service: &LimitService) {
    eventually("it is closed", async || TcpStream::connect(service.http).await.is_err()).await;
}

#[tokio::test]
async fn checks_in_flight_are_completed() {
    for name in ["-TERM", "-INT", "-HUP"] {
        let (mut service, mut proxy) = in_flight(&[]).await;
        service.running.signal(name);
        until_closed(&service).await;
        let health = service.admin(Method::GET, "/healthz").await;
        assert_eq!((health.status, &health.json()["status"]), (503, &"ending".into()));
        proxy.send("12345").await;
        let head = proxy.read_head().await;
        assert_eq!(status(&head), 200, "{name}");
        assert!(head.contains("connection: close\r\n"), "{head}");
        assert_eq!(proxy.read_to_end().await.unwrap(), "");
        assert_eq!(service.wait_for_exit().code(), Some(0), "{name}");
    }
}

/// Also after a body, although its proxy does not close the connection: nothing is left to read.
#[tokio::test]
async fn idle_connections_are_closed_at_once() {
    let rules = limit("all", 10, "key = 'global'");
    let mut service = LimitService::start(&rules, &["--drain-timeout", "8s", "--client-timeout", "10m"]);
    let mut proxy = service.connect().await;
    proxy.send(format!("{HEAD}12345")).await;
    assert_eq!(proxy.response().await, (200, String::new()));
    service.running.signal("-TERM");
    assert_eq!(proxy.read_to_end().await.unwrap(), "");
    assert_eq!(service.wait_for_exit().code(), Some(0));
    assert!(!service.log().contains("drain timeout elapsed"), "{}", service.log());
    drop(proxy);
}

#[tokio::test]
async fn a_check_that_does_not_end_is_aborted_after_the_drain_timeout() {
    let (mut service, mut proxy) = in_flight(&["--drain-timeout", "500ms", "--client-timeout", "10m"]).await;
    service.running.signal("-TERM");
    eventually("the timeout is logged", async || {
        service.log().contains("drain timeout elapsed") && service.log().contains("--drain-timeout")
    })
    .await;
    assert_eq!(service.wait_for_exit().code(), Some(0));
    assert_eq!(proxy.read_until_closed().await, "");
}

#[tokio::test]
async fn a_second_signal_exits_at_once() {
    let (mut service, mut proxy) = in_flight(&["--drain-timeout", "10m", "--client-timeout", "10m"]).await;
    service.running.signal("-TERM");
    until_closed(&service).await;
    service.running.signal("-INT");
    assert_eq!(service.wait_for_exit().code(), Some(0));
    assert_eq!(proxy.read_until_closed().await, "");
}
