//! A client that stays below a server's limit: it waits, and is never rejected.
//!
//! Run it with `cargo run -p example-client`. It starts the server itself, and takes about six seconds.

use std::time::{Duration, Instant};

use axum::{Router, routing::get};
use reqwest::{Client, Request, Response, Url};
use tollgate::{AsError, Global, MemoryStore, Quota, RateLimitLayer};
use tower::{BoxError, Service, ServiceBuilder, ServiceExt};

const CALLS: usize = 35;

/// The server, which admits ten requests in any second and rejects more.
async fn start_server() -> Result<Url, BoxError> {
    let limit = RateLimitLayer::sliding_log("api", Quota::per_second(10), Global, MemoryStore::new());
    let app = Router::new().route("/", get(async || "done")).layer(limit);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?).parse()?;
    tokio::spawn(async { axum::serve(listener, app).await });
    Ok(url)
}

/// Sends all requests concurrently, and returns how many were served and how many rejected.
async fn call<S>(client: S, url: &Url) -> Result<(usize, usize), BoxError>
where
    S: Service<Request, Response = Response, Error = BoxError, Future: Send> + Clone + Send + 'static,
{
    let calls = (0..CALLS).map(|_| {
        let request = Request::new(reqwest::Method::GET, url.clone());
        tokio::spawn(client.clone().oneshot(request))
    });
    let (mut served, mut rejected) = (0, 0);
    for call in calls.collect::<Vec<_>>() {
        match call.await??.status().as_u16() {
            429 => rejected += 1,
            _ => served += 1,
        }
    }
    Ok((served, rejected))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let url = start_server().await?;
    let client = Client::builder().no_proxy().build()?;

    // Errors of the client and of the limit are both a `BoxError`.
    let plain = ServiceBuilder::new().map_err(BoxError::from).service(client.clone());
    let (served, rejected) = call(plain, &url).await?;
    println!("without a limit: {served} served, {rejected} rejected");

    // The server counts a request when it arrives, and we when it is sent: a slow request arrives closer to the next one. So our
    // window is longer than the server's by the variation in latency, here half a second at most.
    let quota = Quota::new(10, Duration::from_millis(1500));
    let limit = RateLimitLayer::sliding_log("api-client", quota, Global, MemoryStore::new())
        .wait(Duration::from_secs(30))
        .respond_with(AsError);
    let limited = ServiceBuilder::new()
        .layer(limit)
        .map_err(BoxError::from)
        .service(client);
    // Until the requests above have expired at the server.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let start = Instant::now();
    let (served, rejected) = call(limited, &url).await?;
    let seconds = start.elapsed().as_secs_f64();
    println!("with a limit: {served} served, {rejected} rejected, in {seconds:.1} s");
    Ok(())
}
