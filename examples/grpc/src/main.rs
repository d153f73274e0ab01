//! gRPC and plain HTTP on one port, behind one limit: each client gets a rejection in its own protocol.
//!
//! Run it with `cargo run -p example-grpc` and try the commands that it prints. The gRPC service is the standard health service, so
//! that no code has to be generated.

use std::{env, error::Error, net::SocketAddr};

use axum::{Router, routing::get};
use tokio::net::TcpListener;
use tollgate::{ClientIp, MemoryStore, Quota, RateLimitLayer, Store};
use tonic::service::Routes;

fn app(store: impl Store) -> Router {
    // Three in any minute, for both protocols together.
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
        .map_err(|error| format!("cannot listen on {listen} (set LISTEN=ADDRESS:PORT to change it): {error}"))?;
    let address = listener.local_addr()?;
    println!("listening on http://{address}\n");
    println!("an HTTP request; the fourth in a minute is rejected with 429:");
    println!("  curl -i http://{address}/hello\n");
    println!("a gRPC call; the fourth in a minute is rejected with status 8, RESOURCE_EXHAUSTED:");
    println!("  curl -O https://raw.githubusercontent.com/grpc/grpc-proto/master/grpc/health/v1/health.proto");
    println!("  grpcurl -v -plaintext -proto health.proto {address} grpc.health.v1.Health/Check\n");
    println!("the same call without grpcurl, with an empty message of five bytes");
    println!("(a rejection does not wait for the message, which curl 7.88 sometimes reports as error 92):");
    println!("  printf '\\0\\0\\0\\0\\0' | curl -i --http2-prior-knowledge -H 'content-type: application/grpc' \\");
    println!("    --data-binary @- --output - http://{address}/grpc.health.v1.Health/Check");
    // ClientIp needs the peer address, which axum provides with this method.
    let service = app(MemoryStore::new()).into_make_service_with_connect_info::<SocketAddr>();
    Ok(axum::serve(listener, service).await?)
}
