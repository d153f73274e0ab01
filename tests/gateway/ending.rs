//! How the gateway ends: when it is asked to, after those who are served.

use std::process::{Command, ExitStatus};

use axum::http::Method;
use tokio::net::TcpStream;

use support::patience::{eventually, until_some};

use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    wire::{Upstream, Wire, patiently, status},
};

fn signal(gateway: &Gateway, name: &str) {
    let pid = gateway.running.child.id().to_string();
    assert!(Command::new("kill").args([name, &pid]).status().unwrap().success());
}

fn end(mut gateway: Gateway) -> ExitStatus {
    until_some("it has ended", || gateway.running.child.try_wait().unwrap())
}

/// Expires when the gateway waits for its end, and not while somebody is asked: that takes a moment, on any machine.
const SOON: &str = "5s";

/// A client that has asked, and the service that has not answered.
async fn in_flight(options: &[&str]) -> (Gateway, Wire, Wire) {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, options);
    let mut client = Wire::to(&gateway).await;
    client.say("GET / HTTP/1.1\r\nhost: a\r\n\r\n").await;
    let mut service = upstream.accept().await;
    service.head().await;
    (gateway, client, service)
}

/// It has been told, and takes nobody any more.
async fn until_it_is_closed(gateway: &Gateway) {
    eventually("it is closed", async || {
        TcpStream::connect(gateway.address).await.is_err()
    })
    .await;
}

#[tokio::test]
async fn who_is_served_is_served_to_the_end() {
    for name in ["-TERM", "-INT", "-HUP"] {
        let (gateway, mut client, mut service) = in_flight(&[]).await;
        signal(&gateway, name);
        until_it_is_closed(&gateway).await;
        let health = gateway.admin(Method::GET, "/healthz").await;
        assert_eq!((health.status, &health.json()["status"]), (503, &"ending".into()));
        service.say("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n12345").await;
        let head = client.until("12345").await;
        assert_eq!(status(&head), 200);
        assert!(head.contains("connection: close\r\n"), "{head}");
        service.say("67890").await;
        assert_eq!(client.rest().await.unwrap(), "67890", "{name}");
        assert_eq!(end(gateway).code(), Some(0), "{name}");
    }
}

#[tokio::test]
async fn who_only_stays_connected_is_closed_and_not_waited_for() {
    let service = crate::gateway::client::echo().await;
    let gateway = Gateway::to(
        &service.url(),
        ANY_NUMBER,
        &["--client-timeout", "10m", "--upstream-timeout", "10m"],
    );
    let mut fresh = Wire::to(&gateway).await;
    let mut asked = Wire::to(&gateway).await;
    asked.say("GET /one HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(asked.answer().await, (200, "/one".to_owned()));
    let mut posted = Wire::to(&gateway).await;
    posted
        .say("POST /two HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\n\r\nbody")
        .await;
    assert_eq!(posted.answer().await, (200, "/two".to_owned()));
    signal(&gateway, "-TERM");
    for client in [&mut fresh, &mut asked, &mut posted] {
        assert_eq!(client.rest().await.unwrap(), "");
    }
    assert_eq!(end(gateway).code(), Some(0));
    drop((fresh, asked, posted));
}

#[tokio::test]
async fn an_answer_without_an_end_is_cut_off() {
    let (gateway, mut client, mut service) = in_flight(&["--upstream-timeout", SOON]).await;
    service.say("HTTP/1.1 200 OK\r\n\r\n").await;
    client.head().await;
    let endless = tokio::spawn(async move { while service.try_say("more").await.is_ok() {} });
    let reading = tokio::spawn(client.gone());
    signal(&gateway, "-TERM");
    // This waits without letting others run, and they have to.
    let ended = tokio::task::spawn_blocking(|| end(gateway));
    assert_eq!(patiently(ended).await.unwrap().code(), Some(0));
    patiently(reading).await.unwrap();
    patiently(endless).await.unwrap();
}

#[tokio::test]
async fn who_is_told_twice_ends_at_once() {
    let (gateway, mut client, _service) = in_flight(&["--upstream-timeout", "10m"]).await;
    signal(&gateway, "-TERM");
    until_it_is_closed(&gateway).await;
    signal(&gateway, "-INT");
    assert_eq!(end(gateway).code(), Some(0));
    assert_eq!(client.last_words().await, "");
}

#[tokio::test]
async fn who_has_a_websocket_is_cut_off() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &["--upstream-timeout", SOON]);
    let (mut client, _service) = crate::gateway::tunnels::tunnel(&upstream, &gateway).await;
    signal(&gateway, "-TERM");
    until_it_is_closed(&gateway).await;
    assert_eq!(end(gateway).code(), Some(0));
    assert_eq!(client.last_words().await, "");
}
