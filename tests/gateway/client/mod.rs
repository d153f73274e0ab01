//! Clients that do not keep to HTTP, or keep others waiting: a clear answer for them, and nobody else notices.

mod asking_first;
mod deaf;
mod half;
mod idle;
mod leaving;
mod long;
mod malformed;
mod pipelined;
mod refused;
mod targets;

use axum::{Router, http::Uri};

use support::http::Server;

use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    room::until_connected,
    wire::Wire,
};

/// A service that says which path it was asked for.
pub(crate) async fn echo() -> Server {
    Server::start(Router::new().fallback(async |uri: Uri| uri.to_string())).await
}

async fn others_are_answered(gateway: &Gateway) {
    for _ in 0..10 {
        assert_eq!(Wire::get(gateway, "/well").await, (200, "/well".to_owned()));
    }
}

/// A thousand connections, whatever the shell allows by default.
fn have_room_for_a_thousand() {
    let files = rlimit::increase_nofile_limit(u64::MAX).unwrap();
    assert!(
        files >= 8192,
        "thousands of clients need more open files than {files}: ulimit -Hn"
    );
}

/// A thousand who have come are connected all the while that others are answered, and take no more memory than this.
async fn delay_nobody<T>(a_thousand: impl AsyncFnOnce(&Gateway) -> T, most: u64) {
    have_room_for_a_thousand();
    let service = echo().await;
    let gateway = Gateway::to(&service.url(), ANY_NUMBER, &["--client-timeout", "10m"]);
    others_are_answered(&gateway).await;
    let before = gateway.most_memory();
    // They end with the test: here nobody is told anything.
    let _clients = a_thousand(&gateway).await;
    until_connected(gateway.admin, 1000).await;
    others_are_answered(&gateway).await;
    until_connected(gateway.admin, 1000).await;
    let grown = gateway.most_memory() - before;
    assert!(grown < most, "it has grown by {grown} bytes");
}
