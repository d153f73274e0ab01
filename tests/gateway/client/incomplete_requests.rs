//! Clients that do not complete their requests, as in a slowloris attack.

use std::time::Duration;

use tokio::task::JoinSet;

use super::{echo, other_clients_are_not_delayed, other_clients_are_served, raise_open_files_limit};
use crate::gateway::{
    fixture::{COUNT_ONLY, Gateway},
    socket::{Socket, Upstream, status},
};

/// A head without its end, half as long as the maximum.
fn incomplete_head() -> String {
    format!("GET / HTTP/1.1\r\nhost: a\r\nx-long: {}", "a".repeat(32 << 10))
}

/// Sends a byte every 100 ms until the gateway responds and closes.
async fn trickle(mut client: Socket) -> String {
    loop {
        tokio::select! {
            // A byte sent after the close is answered with a reset.
            received = client.read_until_closed() => return received,
            () = tokio::time::sleep(Duration::from_millis(100)) => client.try_send("a").await.unwrap_or_default(),
        }
    }
}

/// A thousand clients, half of which trickle; each returns what it receives until it is closed.
async fn a_thousand_clients(gateway: &Gateway) -> JoinSet<String> {
    let mut clients = JoinSet::new();
    for number in 0..1000 {
        let mut client = Socket::connect(gateway).await;
        client.send(incomplete_head()).await;
        let trickles = number % 2 == 0;
        clients.spawn(async move {
            if trickles {
                trickle(client).await
            } else {
                client.read_to_end().await.unwrap()
            }
        });
    }
    clients
}

#[tokio::test]
async fn slowloris_clients_do_not_delay_others() {
    other_clients_are_not_delayed(a_thousand_clients, 128 << 20).await;
}

#[tokio::test]
async fn slowloris_clients_get_a_408() {
    raise_open_files_limit();
    let service = echo().await;
    // Long enough for every client to send its first byte: a client that has sent nothing gets no response.
    let gateway = Gateway::with_upstream(&service.url(), COUNT_ONLY, &["--client-timeout", "5s"]);
    for received in a_thousand_clients(&gateway).await.join_all().await {
        assert_eq!(
            received,
            "HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        );
    }
    other_clients_are_served(&gateway).await;
}

#[tokio::test]
async fn an_incomplete_body_is_a_408_and_closes_the_upstream_connection() {
    let upstream = Upstream::start().await;
    let gateway = Gateway::with_upstream(&upstream.url(), COUNT_ONLY, &["--client-timeout", "3s"]);
    for body in [
        "content-length: 10\r\n\r\n12345",
        "transfer-encoding: chunked\r\n\r\n5\r\n12345\r\n",
        "content-length: 10\r\n\r\n",
    ] {
        let mut client = Socket::connect(&gateway).await;
        client.send(format!("POST / HTTP/1.1\r\nhost: a\r\n{body}")).await;
        let service = upstream.accept().await;
        let head = client.read_head().await;
        assert_eq!(status(&head), 408, "{body}");
        let rest = client.read_to_end().await.unwrap();
        assert_eq!(
            rest,
            r#"{"error":"client_timeout","message":"The request body did not arrive in time."}"#
        );
        service.closed().await;
    }
}
