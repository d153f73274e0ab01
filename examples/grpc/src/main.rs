//! gRPC and plain HTTP at one port, behind one limit: whoever is refused is told so in their own language.
//!
//! Run it with `cargo run -p example-grpc` and try the lines that it prints. The gRPC service is the health service that
//! many tools know, so that there is nothing to generate; yours goes in the same place.

use std::{env, error::Error, net::SocketAddr};

use axum::{Router, routing::get};
use tokio::net::TcpListener;
use tollgate::{ClientIp, MemoryStore, Quota, RateLimitLayer, Store};
use tonic::service::Routes;

fn app(store: impl Store) -> Router {
    // Three in any minute, by either way.
    let limit = RateLimitLayer::sliding_log("client", Quota::per_minute(3), ClientIp::peer(), store);
    let (_, health) = tonic_health::server::health_reporter();
    Router::new()
        .route("/hello", get(async || "hello\n"))
        .merge(Routes::new(health).into_axum_router())
        .layer(limit)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listen = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let listener = TcpListener::bind(&listen)
        .await
        .map_err(|error| format!("cannot listen on {listen} (LISTEN=ADDRESS:PORT says where): {error}"))?;
    let address = listener.local_addr()?;
    println!("listening on http://{address}\n");
    println!("a plain request, of which the fourth in a minute is answered with 429:");
    println!("  curl -i http://{address}/hello\n");
    println!("a call, of which the fourth in a minute is answered with status 8, RESOURCE_EXHAUSTED:");
    println!("  curl -O https://raw.githubusercontent.com/grpc/grpc-proto/master/grpc/health/v1/health.proto");
    println!("  grpcurl -v -plaintext -proto health.proto {address} grpc.health.v1.Health/Check\n");
    println!("the same call without grpcurl, of an empty message, which is five bytes long");
    println!("(a refusal does not wait for them, which curl 7.88 sometimes takes for an error, 92):");
    println!("  printf '\\0\\0\\0\\0\\0' | curl -i --http2-prior-knowledge -H 'content-type: application/grpc' \\");
    println!("    --data-binary @- --output - http://{address}/grpc.health.v1.Health/Check");
    // ClientIp reads the peer's address, which axum hands on when it is told to.
    let service = app(MemoryStore::new()).into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, service).await?)
}
