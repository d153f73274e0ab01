//! Connect and gRPC-Web clients get the HTTP response to a denied call: a code for its status, and its headers as metadata.

use axum::{Router, routing::any};
use support::{each_store::NOW, http::Server};
use tollgate::{Global, ManualClock, MemoryStore, Quota, RateLimitLayer};

use crate::interop::client;

#[tokio::test]
async fn connect_and_grpc_web_clients_can_read_retry_after() {
    let store = MemoryStore::builder().clock(ManualClock::at(NOW)).build();
    let limit = RateLimitLayer::fixed_window("calls", Quota::per_minute(1), Global, store);
    let server = Server::start(Router::new().route("/{*path}", any(async || "done")).layer(limit)).await;
    assert_eq!(server.get("/Greeter/SayHello").await.status, 200);
    // Code, Retry-After, and the number of details.
    let output = client::run("connect.mjs", &[server.url()]).await;
    assert_eq!(output, ["Unavailable 45 0", "Unavailable 45 0"]);
}
