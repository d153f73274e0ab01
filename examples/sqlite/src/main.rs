//! Limits in an SQLite file, which several processes share: a store of its own.
//!
//! ```sh
//! cargo run -p example-sqlite -- limits.db
//! LISTEN=127.0.0.1:3001 cargo run -p example-sqlite -- limits.db   # in another terminal
//! curl -i http://127.0.0.1:3000/   # five an hour, of both processes together
//! ```
//!
//! `cargo run -p example-sqlite -- --check limits.db` runs the conformance tests for stores on the file.

use std::{env, error::Error, path::Path, process, sync::atomic};

use axum::{Router, routing::get};
use sqlite_store::SqliteStore;
use tokio::net::TcpListener;
use tollgate::{Clock, Global, ManualClock, Quota, RateLimitLayer};

const USAGE: &str = "usage: example-sqlite FILE, or example-sqlite --check FILE";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--check", file] => check(file.as_ref()).await,
        [file] => serve(file.as_ref()).await,
        _ => Err(USAGE.into()),
    }
}

async fn serve(file: &Path) -> Result<(), Box<dyn Error>> {
    let store = SqliteStore::open(file, "example", Clock::system())
        .map_err(|error| format!("cannot open {}: {error}", file.display()))?;
    let limit = RateLimitLayer::sliding_log("all", Quota::per_hour(5), Global, store);
    let app = Router::new().route("/", get(async || "hello\n")).layer(limit);
    let listen = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let listener = TcpListener::bind(&listen)
        .await
        .map_err(|error| format!("cannot listen on {listen} (set LISTEN=ADDRESS:PORT to change it): {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, app).await?)
}

async fn check(file: &Path) -> Result<(), Box<dyn Error>> {
    SqliteStore::open(file, "check", Clock::system())?;
    let cases = atomic::AtomicUsize::new(0);
    let fresh = |clock: ManualClock| {
        // Each case has its own rows, and so has each process.
        let prefix = format!("{}-{}", process::id(), cases.fetch_add(1, atomic::Ordering::Relaxed));
        SqliteStore::open(file, &prefix, clock).expect("the file can be opened, as above")
    };
    tollgate_conformance::check(&fresh).await;
    println!("the store passes all tests");
    Ok(())
}
