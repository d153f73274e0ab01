//! Clients that do not get to the end of what they say.

use std::time::Duration;

use tokio::task::JoinSet;

use super::{delay_nobody, echo, have_room_for_a_thousand, others_are_answered};
use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    wire::{Upstream, Wire, status},
};

/// A head that lacks its end, and is half as long as heads may be.
fn half_a_head() -> String {
    format!("GET / HTTP/1.1\r\nhost: a\r\nx-long: {}", "a".repeat(32 << 10))
}

/// Says a byte now and then, until it hears something and is closed.
async fn trickle(mut client: Wire) -> String {
    loop {
        tokio::select! {
            // What it says after it was closed is answered with a reset.
            heard = client.last_words() => return heard,
            () = tokio::time::sleep(Duration::from_millis(100)) => client.try_say("a").await.unwrap_or_default(),
        }
    }
}

/// A thousand, every other of whom trickles: what each of them hears until it is closed.
async fn a_thousand(gateway: &Gateway) -> JoinSet<String> {
    let mut clients = JoinSet::new();
    for number in 0..1000 {
        let mut client = Wire::to(gateway).await;
        client.say(half_a_head()).await;
        let trickles = number % 2 == 0;
        clients.spawn(async move {
            if trickles {
                trickle(client).await
            } else {
                client.rest().await.unwrap()
            }
        });
    }
    clients
}

#[tokio::test]
async fn a_thousand_who_stop_in_a_head_or_trickle_it_delay_nobody() {
    delay_nobody(a_thousand, 128 << 20).await;
}

#[tokio::test]
async fn a_thousand_who_stop_in_a_head_or_trickle_it_are_told_so() {
    have_room_for_a_thousand();
    let service = echo().await;
    // Long enough for a client to begin: who has said nothing at all is told nothing.
    let gateway = Gateway::to(&service.url(), ANY_NUMBER, &["--client-timeout", "5s"]);
    for heard in a_thousand(&gateway).await.join_all().await {
        assert_eq!(
            heard,
            "HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        );
    }
    others_are_answered(&gateway).await;
}

#[tokio::test]
async fn who_stops_in_a_body_is_told_so_and_the_service_is_let_go_of() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::to(&upstream.url(), ANY_NUMBER, &["--client-timeout", "3s"]);
    for body in [
        "content-length: 10\r\n\r\n12345",
        "transfer-encoding: chunked\r\n\r\n5\r\n12345\r\n",
        "content-length: 10\r\n\r\n",
    ] {
        let mut client = Wire::to(&gateway).await;
        client.say(format!("POST / HTTP/1.1\r\nhost: a\r\n{body}")).await;
        let service = upstream.accept().await;
        let head = client.head().await;
        assert_eq!(status(&head), 408, "{body}");
        let rest = client.rest().await.unwrap();
        assert_eq!(
            rest,
            r#"{"error":"client_timeout","message":"The request's body did not arrive in time."}"#
        );
        service.gone().await;
    }
}
