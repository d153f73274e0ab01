//! Two WebSockets per client at once. Each holds its slot as long as it is open.
//!
//! ```sh
//! cargo run -p example-websocket
//! npx wscat -c ws://127.0.0.1:3000/chat   # in two terminals; a third is rejected with 429 until one of them ends
//! ```

use std::{env, error::Error, net::SocketAddr};

use axum::{
    Router,
    extract::ws::{WebSocket, WebSocketUpgrade},
    response::Response,
    routing::any,
};
use tokio::net::TcpListener;
use tollgate::{ClientIp, MemoryStore, Permit, RateLimitLayer};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let limit = RateLimitLayer::concurrency("chats", 2, ClientIp::peer(), MemoryStore::new());
    let app = Router::new().route("/chat", any(chat)).layer(limit);
    let listen = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let listener = TcpListener::bind(&listen)
        .await
        .map_err(|error| format!("cannot listen on {listen} (set LISTEN=ADDRESS:PORT to change it): {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, app).await?)
}

/// The response ends when the WebSocket begins, so the WebSocket keeps the permit.
async fn chat(upgrade: WebSocketUpgrade, permit: Option<Permit>) -> Response {
    upgrade.on_upgrade(async move |socket| {
        echo(socket).await;
        drop(permit);
    })
}

async fn echo(mut socket: WebSocket) {
    while let Some(Ok(message)) = socket.recv().await {
        if socket.send(message).await.is_err() {
            return;
        }
    }
}
