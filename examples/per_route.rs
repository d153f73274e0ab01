//! Different limits per route and method, and none on a health check.
//!
//! Run it with `cargo run --example per_route`, then for example
//! `for i in $(seq 4); do curl -i -X POST http://127.0.0.1:3000/login; done`.

use std::{env, error::Error, net::SocketAddr};

use axum::{
    Router,
    routing::{get, post},
};
use tokio::net::TcpListener;
use tollgate::{ClientIp, HttpMethod, MemoryStore, Quota, RateLimitLayer, Route, Store};

fn app(store: impl Store) -> Router {
    // Three attempts in any minute: the log is exact, and cheap for a small limit.
    let logins = RateLimitLayer::sliding_log("login", Quota::per_minute(3), ClientIp::peer(), store.clone());
    // A token bucket allows bursts and limits the average.
    let searches = RateLimitLayer::token_bucket("search", Quota::per_second(5), ClientIp::peer(), store.clone());
    // One layer for a whole router, with a limit per client, route and method.
    let key = (ClientIp::peer(), HttpMethod, Route);
    let default = RateLimitLayer::sliding_counter("default", Quota::per_minute(60), key, store);

    let api = Router::new()
        .route("/notes", get(async || "notes\n").post(async || "noted\n"))
        .route("/notes/{id}", get(async || "a note\n"))
        .layer(default);
    Router::new()
        // Only POST is limited.
        .route(
            "/login",
            post(async || "welcome\n").layer(logins).get(async || "a form\n"),
        )
        .route("/search", get(async || "found\n").layer(searches))
        .merge(api)
        // A route that is added after a layer is outside of it.
        .route("/healthz", get(async || "ok\n"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listen = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let listener = TcpListener::bind(&listen)
        .await
        .map_err(|error| format!("cannot listen on {listen} (set LISTEN=ADDRESS:PORT to change it): {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);
    let service = app(MemoryStore::new()).into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, service).await?)
}
