//! The classic case, in three tiers that are charged together: 10,000 requests a minute for everyone, 100 a minute per
//! user, and 10 a minute per user on one expensive endpoint.
//!
//! Run it with `cargo run --example quickstart` and try the lines that it prints. With
//! `REDIS_URL=redis://127.0.0.1:6379 cargo run --example quickstart` the limits are kept in that Redis, and as many of
//! these as you start share them. `LISTEN=127.0.0.1:3001` listens elsewhere.

use std::{env, error::Error, net::SocketAddr, process::ExitCode};

use axum::{Router, routing::get};
use tokio::net::TcpListener;
use tollgate::{ClientIp, Global, Header, MemoryStore, Quota, RateLimitLayer, SlidingCounter, Store};

fn app(store: impl Store) -> Router {
    // Whoever does not say who they are is counted by address.
    let user = Header::new("x-user-id").label("user").or(ClientIp::peer());

    let plain = RateLimitLayer::sliding_counter("global", Quota::per_minute(10_000), Global, store).tier(
        "user",
        SlidingCounter::new(Quota::per_minute(100)),
        user.clone(),
    );
    let expensive = plain
        .clone()
        .tier("expensive", SlidingCounter::new(Quota::per_minute(10)), user);

    Router::new()
        .route("/api/expensive", get(async || "that took some work\n").layer(expensive))
        .route("/api/{*path}", get(async || "hello\n").layer(plain))
}

type AnyError = Box<dyn Error + Send + Sync>;

async fn run() -> Result<(), AnyError> {
    let (app, kept) = match env::var("REDIS_URL") {
        #[cfg(feature = "redis")]
        Ok(url) => {
            let store = tollgate::RedisStore::connect(&url)?;
            store.check().await?; // says at start-up what is wrong, not at 3 a.m.
            (app(store), "in Redis")
        }
        #[cfg(not(feature = "redis"))]
        Ok(_) => return Err("REDIS_URL needs the feature `redis`".into()),
        Err(_) => (app(MemoryStore::new()), "in memory"),
    };
    let listen = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let listener = TcpListener::bind(&listen)
        .await
        .map_err(|error| format!("cannot listen on {listen} (LISTEN=ADDRESS:PORT says where): {error}"))?;
    let at = format!("http://{}", listener.local_addr()?);
    println!("listening on {at}, limits are kept {kept}\n");
    println!("what is left, in the headers:");
    println!("  curl -i {at}/api/hello -H 'x-user-id: alice'\n");
    println!("the eleventh is refused by one tier, and costs the others nothing:");
    println!("  for i in $(seq 11); do curl -i {at}/api/expensive -H 'x-user-id: alice'; done\n");
    println!("somebody else still has all of theirs:");
    println!("  curl -i {at}/api/expensive -H 'x-user-id: bob'");
    // ClientIp reads the peer's address, which axum hands on when it is told to.
    let service = app.into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, service).await?)
}

#[tokio::main]
async fn main() -> ExitCode {
    // Says when Redis is gone, and when it is back. Meanwhile requests pass.
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
