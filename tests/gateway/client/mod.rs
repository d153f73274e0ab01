//! Clients that violate HTTP or are slow get a clear response, and other clients are unaffected.

mod disconnects;
mod expect_continue;
mod idle;
mod incomplete_requests;
mod malformed;
mod oversized_heads;
mod pipelined;
mod rejected_uploads;
mod slow_readers;
mod targets;

use axum::{Router, http::Uri};

use support::http::Server;

use crate::gateway::{
    connection_limit::until_connected,
    fixture::{COUNT_ONLY, Gateway},
    socket::Socket,
};

/// A service that responds with the requested path.
pub(crate) async fn echo() -> Server {
    Server::start(Router::new().fallback(async |uri: Uri| uri.to_string())).await
}

async fn other_clients_are_served(gateway: &Gateway) {
    for _ in 0..10 {
        assert_eq!(Socket::get(gateway, "/well").await, (200, "/well".to_owned()));
    }
}

/// Allows thousands of connections, independent of the shell's default.
fn raise_open_files_limit() {
    let files = rlimit::increase_nofile_limit(u64::MAX).unwrap();
    assert!(
        files >= 8192,
        "thousands of clients need more open files than {files}: ulimit -Hn"
    );
}

/// A thousand clients stay connected while others are served, and take less memory than `max_memory`.
async fn other_clients_are_not_delayed<T>(a_thousand_clients: impl AsyncFnOnce(&Gateway) -> T, max_memory: u64) {
    raise_open_files_limit();
    let service = echo().await;
    let gateway = Gateway::with_upstream(&service.url(), COUNT_ONLY, &["--client-timeout", "10m"]);
    other_clients_are_served(&gateway).await;
    let before = gateway.peak_memory();
    // The client timeout is longer than the test, so the gateway closes none of them.
    let _clients = a_thousand_clients(&gateway).await;
    until_connected(gateway.admin, 1000).await;
    other_clients_are_served(&gateway).await;
    until_connected(gateway.admin, 1000).await;
    let grown = gateway.peak_memory() - before;
    assert!(grown < max_memory, "it has grown by {grown} bytes");
}
