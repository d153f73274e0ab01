//! Clients that say nothing.

use super::{delay_nobody, echo, have_room_for_a_thousand};
use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    room::until_connected,
    wire::Wire,
};

async fn a_thousand(gateway: &Gateway) -> Vec<Wire> {
    let mut clients = Vec::new();
    for _ in 0..1000 {
        clients.push(Wire::to(gateway).await);
    }
    clients
}

#[tokio::test]
async fn a_thousand_who_say_nothing_delay_nobody() {
    delay_nobody(a_thousand, 64 << 20).await;
}

#[tokio::test]
async fn a_thousand_who_say_nothing_are_closed_without_a_word() {
    have_room_for_a_thousand();
    let service = echo().await;
    let gateway = Gateway::to(&service.url(), ANY_NUMBER, &["--client-timeout", "500ms"]);
    for mut client in a_thousand(&gateway).await {
        assert_eq!(client.rest().await.unwrap(), "");
    }
    until_connected(gateway.admin, 0).await;
}

#[tokio::test]
async fn who_says_nothing_after_an_answer_is_closed_without_a_word() {
    let service = echo().await;
    let gateway = Gateway::to(&service.url(), ANY_NUMBER, &["--client-timeout", "5s"]);
    let mut client = Wire::to(&gateway).await;
    client.say("GET /one HTTP/1.1\r\nhost: a\r\n\r\n").await;
    assert_eq!(client.answer().await, (200, "/one".to_owned()));
    assert_eq!(client.rest().await.unwrap(), "");
}
