//! Graceful shutdown.

use std::process::{Command, ExitStatus};

use axum::http::Method;
use tokio::net::TcpStream;

use support::wait::{eventually, until_some};

use crate::gateway::{
    fixture::{COUNT_ONLY, Gateway},
    socket::{Socket, Upstream, status, with_timeout},
};

fn signal(gateway: &Gateway, name: &str) {
    let pid = gateway.running.child.id().to_string();
    assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
}

fn wait_for_exit(mut gateway: Gateway) -> ExitStatus {
    until_some("it has exited", || gateway.running.child.try_wait().unwrap())
}

/// Longer than a request takes on a busy machine, and short enough to wait for during a shutdown.
const SHORT_TIMEOUT: &str = "5s";

/// A request that the service has received and not yet answered.
async fn in_flight(options: &[&str]) -> (Gateway, Socket, Socket) {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, options);
    let mut client = Socket::connect(&gateway).await;
    client.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut service = upstream.accept().await;
    service.read_head().await;
    (gateway, client, service)
}

/// Waits until the gateway accepts no more connections.
async fn until_closed(gateway: &Gateway) {
    eventually("it is closed", async || {
        TcpStream::connect(gateway.address).await.is_err()
    })
    .await;
}

#[tokio::test]
async fn requests_in_flight_are_completed() {
    for name in ["-TERM", "-INT", "-HUP"] {
        let (gateway, mut client, mut service) = in_flight(&[]).await;
        signal(&gateway, name);
        until_closed(&gateway).await;
        let health = gateway.admin(Method::GET, "/healthz").await;
        assert_eq!((health.status, &health.json()["status"]), (503, &"ending".into()));
        service.send("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345").await;
        let head = client.read_until("12345").await;
        assert_eq!(status(&head), 200);
        assert!(head.contains("connection: close\r\n"), "{head}");
        service.send("67890").await;
        assert_eq!(client.read_to_end().await.unwrap(), "67890", "{name}");
        assert_eq!(wait_for_exit(gateway).code(), Some(0), "{name}");
    }
}

#[tokio::test]
async fn idle_connections_are_closed_at_once() {
    let service = crate::gateway::client::echo().await;
    let gateway = Gateway::with_upstream(
        &service.url(),
        COUNT_ONLY,
        &["--client-timeout", "10m", "--upstream-timeout", "10m"],
    );
    let mut fresh = Socket::connect(&gateway).await;
    let mut asked = Socket::connect(&gateway).await;
    asked.send("GET /one HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(asked.response().await, (200, "/one".to_owned()));
    let mut posted = Socket::connect(&gateway).await;
    posted
        .send("POST /two HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody")
        .await;
    assert_eq!(posted.response().await, (200, "/two".to_owned()));
    signal(&gateway, "-TERM");
    for client in [&mut fresh, &mut asked, &mut posted] {
        assert_eq!(client.read_to_end().await.unwrap(), "");
    }
    assert_eq!(wait_for_exit(gateway).code(), Some(0));
    drop((fresh, asked, posted));
}

#[tokio::test]
async fn an_endless_response_is_aborted() {
    let (gateway, mut client, mut service) = in_flight(&["--upstream-timeout", SHORT_TIMEOUT]).await;
    service.send("HTTP/1.1 200 OK\r\n\r\n").await;
    client.read_head().await;
    let endless = tokio::spawn(async move { while service.try_send("more").await.is_ok() {} });
    let reading = tokio::spawn(client.closed());
    signal(&gateway, "-TERM");
    // Waiting blocks the thread, and the other tasks have to run.
    let ended = tokio::task::spawn_blocking(|| wait_for_exit(gateway));
    assert_eq!(with_timeout(ended).await.unwrap().code(), Some(0));
    with_timeout(reading).await.unwrap();
    with_timeout(endless).await.unwrap();
}

#[tokio::test]
async fn a_second_signal_exits_at_once() {
    let (gateway, mut client, _service) = in_flight(&["--upstream-timeout", "10m"]).await;
    signal(&gateway, "-TERM");
    until_closed(&gateway).await;
    signal(&gateway, "-INT");
    assert_eq!(wait_for_exit(gateway).code(), Some(0));
    assert_eq!(client.read_until_closed().await, "");
}

#[tokio::test]
async fn websockets_are_aborted() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &["--upstream-timeout", SHORT_TIMEOUT]);
    let (mut client, _service) = crate::gateway::websockets::open_websocket(&upstream, &gateway).await;
    signal(&gateway, "-TERM");
    until_closed(&gateway).await;
    assert_eq!(wait_for_exit(gateway).code(), Some(0));
    assert_eq!(client.read_until_closed().await, "");
}
