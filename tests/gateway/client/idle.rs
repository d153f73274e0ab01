//! Idle clients.

use super::{echo, other_clients_are_not_delayed, raise_open_files_limit};
use crate::gateway::{
    connection_limit::until_connected,
    fixture::{COUNT_ONLY, Gateway},
    socket::Socket,
};

async fn a_thousand_clients(gateway: &Gateway) -> Vec<Socket> {
    let mut clients = Vec::new();
    for _ in 0..1000 {
        clients.push(Socket::connect(gateway).await);
    }
    clients
}

#[tokio::test]
async fn idle_clients_do_not_delay_others() {
    other_clients_are_not_delayed(a_thousand_clients, 64 << 20).await;
}

#[tokio::test]
async fn idle_clients_are_closed_without_a_response() {
    raise_open_files_limit();
    let service = echo().await;
    let gateway = Gateway::with_upstream(&service.url(), COUNT_ONLY, &["--client-timeout", "3s"]);
    for mut client in a_thousand_clients(&gateway).await {
        assert_eq!(client.read_to_end().await.unwrap(), "");
    }
    until_connected(gateway.admin, 0).await;
}

#[tokio::test]
async fn an_idle_keep_alive_connection_is_closed_without_a_response() {
    let service = echo().await;
    let gateway = Gateway::with_upstream(&service.url(), COUNT_ONLY, &["--client-timeout", "5s"]);
    let mut client = Socket::connect(&gateway).await;
    client.send("GET /one HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(client.response().await, (200, "/one".to_owned()));
    assert_eq!(client.read_to_end().await.unwrap(), "");
}
