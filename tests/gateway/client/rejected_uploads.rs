//! Clients that are denied while they still send a body receive the response.

use std::process::Command;

use axum::http::Method;

use super::{echo, other_clients_are_served};
use support::{folder::Folder, http::Reply};

use crate::gateway::{
    fixture::{Gateway, at_most},
    socket::{Socket, with_timeout},
};

const LARGE: usize = 16 << 20;

async fn exhausted() -> (support::http::Server, Gateway) {
    let service = echo().await;
    let gateway = Gateway::with_upstream(&service.url(), &at_most(1, "methods = ['POST']"), &[]);
    assert_eq!(Reply::to(gateway.request(Method::POST, "/")).await.status, 200);
    (service, gateway)
}

#[tokio::test]
async fn reqwest_receives_the_429_during_a_large_upload() {
    let (_service, gateway) = exhausted().await;
    for _ in 0..5 {
        let reply = Reply::to(gateway.request(Method::POST, "/").body(vec![0; LARGE])).await;
        assert_eq!((reply.status, &*reply.header("x-ratelimit-remaining")), (429, "0"));
    }
    other_clients_are_served(&gateway).await;
}

#[tokio::test]
async fn curl_receives_the_429_during_a_large_upload() {
    let (_service, gateway) = exhausted().await;
    let folder = Folder::new("large");
    std::fs::write(folder.file("body"), vec![0; LARGE]).unwrap();
    for header in [["-H", "expect:"], ["-H", "transfer-encoding: chunked"]] {
        let mut curl = Command::new("curl");
        curl.args([
            "--silent",
            "--show-error",
            "--output",
            "/dev/null",
            "--write-out",
            "%{http_code}",
        ]);
        curl.args(header)
            .args(["--data-binary", &format!("@{}", folder.file("body")), &gateway.url()]);
        let output = with_timeout(tokio::task::spawn_blocking(move || curl.output().unwrap()))
            .await
            .unwrap();
        assert_eq!(str::from_utf8(&output.stdout).unwrap(), "429");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Simple clients send the whole request before they read.
#[tokio::test]
async fn a_client_that_reads_after_sending_receives_the_429() {
    let (_service, gateway) = exhausted().await;
    for _ in 0..5 {
        let mut client = Socket::connect(&gateway).await;
        client
            .send(format!("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {LARGE}\r\n\r\n"))
            .await;
        client.send(vec![0; LARGE]).await;
        assert_eq!(client.response().await.0, 429);
        assert_eq!(client.read_to_end().await.unwrap(), "");
    }
}

#[tokio::test]
async fn an_endless_upload_is_closed_after_the_client_timeout() {
    let service = echo().await;
    let gateway = Gateway::with_upstream(
        &service.url(),
        &at_most(1, "methods = ['POST']"),
        &["--client-timeout", "5s"],
    );
    assert_eq!(Reply::to(gateway.request(Method::POST, "/")).await.status, 200);
    let mut client = Socket::connect(&gateway).await;
    client
        .send("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000000\r\n\r\n")
        .await;
    let piece = vec![0; 1 << 16];
    while client.try_send(&piece).await.is_ok() {}
    other_clients_are_served(&gateway).await;
}
