//! Clients that are refused while they are still sending: they get to see why.

use std::process::Command;

use axum::http::Method;

use super::{echo, others_are_answered};
use support::{folder::Folder, http::Reply};

use crate::gateway::{
    fixture::{Gateway, at_most},
    wire::{Wire, patiently},
};

const LARGE: usize = 16 << 20;

async fn used_up() -> (support::http::Server, Gateway) {
    let service = echo().await;
    let gateway = Gateway::to(&service.url(), &at_most(1, "methods = ['POST']"), &[]);
    assert_eq!(Reply::to(gateway.request(Method::POST, "/")).await.status, 200);
    (service, gateway)
}

#[tokio::test]
async fn a_client_library_that_sends_a_large_body_sees_the_refusal() {
    let (_service, gateway) = used_up().await;
    for _ in 0..5 {
        let reply = Reply::to(gateway.request(Method::POST, "/").body(vec![0; LARGE])).await;
        assert_eq!((reply.status, &*reply.header("x-ratelimit-remaining")), (429, "0"));
    }
    others_are_answered(&gateway).await;
}

#[tokio::test]
async fn curl_that_sends_a_large_body_sees_the_refusal() {
    let (_service, gateway) = used_up().await;
    let folder = Folder::new("large");
    std::fs::write(folder.file("body"), vec![0; LARGE]).unwrap();
    for how in [["-H", "expect:"], ["-H", "transfer-encoding: chunked"]] {
        let mut curl = Command::new("curl");
        curl.args([
            "--silent",
            "--show-error",
            "--output",
            "/dev/null",
            "--write-out",
            "%{http_code}",
        ]);
        curl.args(how)
            .args(["--data-binary", &format!("@{}", folder.file("body")), &gateway.url()]);
        let output = patiently(tokio::task::spawn_blocking(move || curl.output().unwrap()))
            .await
            .unwrap();
        assert_eq!(str::from_utf8(&output.stdout).unwrap(), "429");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

/// As simple clients do: they send all of it before they look for an answer.
#[tokio::test]
async fn who_looks_for_an_answer_only_after_sending_all_sees_the_refusal() {
    let (_service, gateway) = used_up().await;
    for _ in 0..5 {
        let mut client = Wire::to(&gateway).await;
        client
            .say(format!("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: {LARGE}\r\n\r\n"))
            .await;
        client.say(vec![0; LARGE]).await;
        assert_eq!(client.answer().await.0, 429);
        assert_eq!(client.rest().await.unwrap(), "");
    }
}

#[tokio::test]
async fn who_does_not_stop_sending_is_not_listened_to_for_ever() {
    let service = echo().await;
    let gateway = Gateway::to(
        &service.url(),
        &at_most(1, "methods = ['POST']"),
        &["--client-timeout", "5s"],
    );
    assert_eq!(Reply::to(gateway.request(Method::POST, "/")).await.status, 200);
    let mut client = Wire::to(&gateway).await;
    client
        .say("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000000000\r\n\r\n")
        .await;
    let piece = vec![0; 1 << 16];
    while client.try_say(&piece).await.is_ok() {}
    others_are_answered(&gateway).await;
}
