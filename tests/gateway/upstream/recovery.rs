//! Services that come back: requests pass again, and the log has not been filled meanwhile.

use std::{net::SocketAddr, time::Instant};

use tokio::net::TcpSocket;

use super::BAD;
use support::port::Port;

use crate::gateway::fixture::{ANY_NUMBER, Gateway};

/// How many lines of this level there are.
fn lines(gateway: &Gateway, level: &str, words: &str) -> usize {
    gateway
        .log()
        .lines()
        .filter(|line| line.contains(level) && line.contains(words))
        .count()
}

async fn ask(gateway: &Gateway, status: u16, body: &str) {
    for _ in 0..10 {
        let reply = gateway.get("/").await;
        assert_eq!((reply.status, &*reply.body), (status, body));
    }
}

#[tokio::test]
async fn when_it_is_back_requests_pass_again_and_the_log_has_a_line_now_and_then() {
    let port = Port::free();
    let address = SocketAddr::from(([127, 0, 0, 1], port.number()));
    let gateway = Gateway::to(&format!("http://{address}"), ANY_NUMBER, &[]);
    let began = Instant::now();
    for _ in 0..5 {
        ask(&gateway, 502, BAD).await;
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(address).unwrap();
        let listener = socket.listen(16).unwrap();
        // It closes every connection, so that it is gone at once when it goes.
        let app = axum::Router::new().fallback(async || ([("connection", "close")], "well"));
        let service = tokio::spawn(async { axum::serve(listener, app).await });
        ask(&gateway, 200, "well").await;
        service.abort();
        service.await.unwrap_err();
    }
    // However often it comes and goes: one at once, and no more than one in ten seconds.
    let lines = lines(&gateway, " WARN ", "the service fails");
    let most = 1 + usize::try_from(began.elapsed().as_secs()).unwrap() / 10;
    assert!((1..=most).contains(&lines), "{lines} of {most}: {}", gateway.log());
    assert_eq!(gateway.log().lines().count(), lines, "{}", gateway.log());
}
