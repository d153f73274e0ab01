//! Limits from a rules file that is reloaded whenever it changes.
//!
//! Run it with `cargo run --example rules --features rules` and try the commands that it prints. Then edit examples/rules/rules.toml:
//! within a second, the log reports the new rules or the diagnostics. The argument selects another file.

use std::{env, error::Error, net::SocketAddr, process::ExitCode};

use axum::{Router, routing::get};
use tokio::net::TcpListener;
use tollgate::{MemoryStore, RuleSet, RulesLayer};
use tracing::Level;

async fn run() -> Result<(), Box<dyn Error>> {
    let file = env::args().nth(1).unwrap_or_else(|| "examples/rules/rules.toml".into());
    let rules = RuleSet::watch(&file)?;

    let app = Router::new()
        .route("/api/reports/{id}", get(async || "a report\n"))
        .fallback(async || "hello\n")
        .layer(RulesLayer::new(rules.clone(), MemoryStore::new()));

    let listen = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let listener = TcpListener::bind(&listen)
        .await
        .map_err(|error| format!("cannot listen on {listen} (set LISTEN=ADDRESS:PORT to change it): {error}"))?;
    let at = format!("http://{}", listener.local_addr()?);
    println!("listening on {at}, the rules are in {file}:");
    for limit in rules.limits() {
        println!(
            "  {}: {}, {}",
            limit.name(),
            limit.algorithm().allowance(),
            limit.algorithm().name()
        );
    }
    println!("\nremaining requests, in the headers:");
    println!("  curl -i {at}/hello -H 'x-user-id: alice'\n");
    println!("the sixth is denied:");
    println!("  for i in $(seq 6); do curl -i {at}/api/reports/1 -H 'x-user-id: alice'; done\n");
    println!("on another plan, it is admitted:");
    println!("  for i in $(seq 6); do curl -i {at}/api/reports/1 -H 'x-user-id: paula' -H 'x-plan: pro'; done");
    // Keys by address and trusted proxies need the peer address, which axum provides with this method.
    let service = app.into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, service).await?)
}

#[tokio::main]
async fn main() -> ExitCode {
    // Logs reloads, and at debug level the requests that a shadow limit would have denied.
    let log = tracing_subscriber::fmt().with_max_level(Level::DEBUG);
    log.with_writer(std::io::stderr).init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
