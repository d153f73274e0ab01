//! A service that recovers: requests pass again, and failures are logged at a bounded rate.

use std::{net::SocketAddr, time::Instant};

use tokio::net::TcpSocket;

use super::BAD_UPSTREAM;
use support::port::Port;

use crate::gateway::fixture::{COUNT_ONLY, Gateway};

/// The number of log lines with this level and text.
fn lines(gateway: &Gateway, level: &str, text: &str) -> usize {
    gateway
        .log()
        .lines()
        .filter(|line| line.contains(level) && line.contains(text))
        .count()
}

async fn assert_responses(gateway: &Gateway, status: u16, body: &str) {
    for _ in 0..10 {
        let reply = gateway.get("/").await;
        assert_eq!((reply.status, &*reply.body), (status, body));
    }
}

#[tokio::test]
async fn requests_pass_after_recovery_and_failures_are_logged_at_a_bounded_rate() {
    let port = Port::free();
    let address = SocketAddr::from(([127, 0, 0, 1], port.number()));
    let gateway = Gateway::with_upstream(&format!("http://{address}"), COUNT_ONLY, &[]);
    let began = Instant::now();
    for _ in 0..5 {
        assert_responses(&gateway, 502, BAD_UPSTREAM).await;
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_reuseaddr(true).unwrap();
        socket.bind(address).unwrap();
        let listener = socket.listen(16).unwrap();
        // Without keep-alive, so that the service stops at once.
        let app = axum::Router::new().fallback(async || ([("connection", "close")], "well"));
        let service = tokio::spawn(async { axum::serve(listener, app).await });
        assert_responses(&gateway, 200, "well").await;
        service.abort();
        service.await.unwrap_err();
    }
    // One line at once, and then at most one in ten seconds.
    let lines = lines(&gateway, " WARN ", "upstream requests fail");
    let max = 1 + usize::try_from(began.elapsed().as_secs()).unwrap() / 10;
    assert!((1..=max).contains(&lines), "{lines} of {max}: {}", gateway.log());
    assert_eq!(gateway.log().lines().count(), lines, "{}", gateway.log());
}
