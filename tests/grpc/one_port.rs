//! gRPC services and HTTP routes behind one layer, on one port.

use axum::{Router, routing::get};
use tollgate::{FixedWindow, Global, Quota, RateLimitLayer, Tier};
use tonic::{Code, service::Routes};

use crate::grpc::fixture::{Client, Server, TestStore, on_both_stores};

on_both_stores![grpc_and_http_share_the_limit_and_get_their_own_responses];

async fn grpc_and_http_share_the_limit_and_get_their_own_responses<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::new("api", FixedWindow::new(Quota::per_minute(4)).anchored(), Global),
        store,
    );
    let (_, health) = tonic_health::server::health_reporter();
    let app = Router::new()
        .route("/", get(async || "served"))
        .merge(Routes::new(health).into_axum_router())
        .layer(layer);
    let server = Server::start(app).await;
    let client = Client::of(&server);
    let limits = |left| format!(r#"4 {left} 676 | "api";q=4;w=60 | "api";r={left};t=60"#);
    for left in [3, 1] {
        assert_eq!(server.get("/").await.all(), (200, "-".into(), limits(left)));
        assert_eq!(client.check().await.all(), (Code::Ok, "-".into(), limits(left - 1)));
    }
    for _ in 0..2 {
        let reply = server.get("/").await;
        assert_eq!(reply.all(), (429, "60".into(), limits(0)));
        assert_eq!(
            reply.body,
            r#"{"error":"rate_limit_exceeded","message":"Too many requests. Please retry after 60 seconds.","retry_after":60}"#
        );
        let call = client.check().await;
        assert_eq!(call.all(), (Code::ResourceExhausted, "60000".into(), limits(0)));
        assert_eq!(call.message, "Too many requests. Please retry after 60 seconds.");
    }
}
