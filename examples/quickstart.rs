//! Three tiers that are charged together: 10,000 requests a minute for all clients, 100 a minute per user, and 10 a minute per user
//! on one expensive endpoint.
//!
//! Run it with `cargo run --example quickstart` and try the commands that it prints. With
//! `REDIS_URL=redis://127.0.0.1:6379 cargo run --example quickstart` the limits are stored in that Redis, and shared by all
//! processes that use it. `LISTEN=127.0.0.1:3001` changes the address.

use std::{env, error::Error, net::SocketAddr, process::ExitCode};

use axum::{Router, routing::get};
use tokio::net::TcpListener;
use tollgate::{ClientIp, Global, Header, MemoryStore, Quota, RateLimitLayer, Store, Tier};

fn app(store: impl Store) -> Router {
    // A request without a user is counted by its address.
    let user = Header::new("x-user-id").label("user").or(ClientIp::peer());

    let plain = RateLimitLayer::sliding_counter("global", Quota::per_minute(10_000), Global, store)
        .tier(Tier::sliding_counter("user", Quota::per_minute(100), user.clone()));
    let expensive = plain
        .clone()
        .tier(Tier::sliding_counter("expensive", Quota::per_minute(10), user));

    Router::new()
        .route("/api/expensive", get(async || "that took some work\n").layer(expensive))
        .route("/api/{*path}", get(async || "hello\n").layer(plain))
}

type AnyError = Box<dyn Error + Send + Sync>;

async fn run() -> Result<(), AnyError> {
    let (app, place) = match env::var("REDIS_URL") {
        #[cfg(feature = "redis")]
        Ok(url) => {
            let store = tollgate::RedisStore::connect(&url)?;
            store.check().await?; // fail at start-up, not on the first request
            (app(store), "in Redis")
        }
        #[cfg(not(feature = "redis"))]
        Ok(_) => return Err("REDIS_URL needs the feature `redis`".into()),
        Err(_) => (app(MemoryStore::new()), "in memory"),
    };
    let listen = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let listener = TcpListener::bind(&listen)
        .await
        .map_err(|error| format!("cannot listen on {listen} (set LISTEN=ADDRESS:PORT to change it): {error}"))?;
    let at = format!("http://{}", listener.local_addr()?);
    println!("listening on {at}, limits are stored {place}\n");
    println!("remaining requests, in the headers:");
    println!("  curl -i {at}/api/hello -H 'x-user-id: alice'\n");
    println!("the eleventh is denied by one tier, and not charged to the others:");
    println!("  for i in $(seq 11); do curl -i {at}/api/expensive -H 'x-user-id: alice'; done\n");
    println!("another user still has the full quota:");
    println!("  curl -i {at}/api/expensive -H 'x-user-id: bob'");
    // ClientIp needs the peer address, which axum provides with this method.
    let service = app.into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, service).await?)
}

#[tokio::main]
async fn main() -> ExitCode {
    // Logs when Redis becomes unavailable and when it recovers. Requests are admitted meanwhile.
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
