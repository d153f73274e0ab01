//! A client that stays under somebody else's limit: it waits for its turn, and is never refused.
//!
//! Run it with `cargo run -p example-client`. It starts the server to call by itself, and takes about six seconds.

use std::time::{Duration, Instant};

use axum::{Router, routing::get};
use reqwest::{Client, Request, Response, Url};
use tollgate::{AsError, Global, MemoryStore, Quota, RateLimitLayer};
use tower::{BoxError, Service, ServiceBuilder, ServiceExt};

const CALLS: usize = 35;

/// Their server, which allows ten requests in any second and refuses more.
async fn their_api() -> Result<Url, BoxError> {
    let limit = RateLimitLayer::sliding_log("api", Quota::per_second(10), Global, MemoryStore::new());
    let app = Router::new().route("/", get(async || "done")).layer(limit);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?).parse()?;
    tokio::spawn(async { axum::serve(listener, app).await });
    Ok(url)
}

/// Makes all the calls side by side, and tells how many were served and how many refused.
async fn call<S>(client: S, url: &Url) -> Result<(usize, usize), BoxError>
where
    S: Service<Request, Response = Response, Error = BoxError, Future: Send> + Clone + Send + 'static,
{
    let calls = (0..CALLS).map(|_| {
        let request = Request::new(reqwest::Method::GET, url.clone());
        tokio::spawn(client.clone().oneshot(request))
    });
    let (mut served, mut refused) = (0, 0);
    for call in calls.collect::<Vec<_>>() {
        match call.await??.status().as_u16() {
            429 => refused += 1,
            _ => served += 1,
        }
    }
    Ok((served, refused))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let url = their_api().await?;
    let client = Client::builder().no_proxy().build()?;

    // An error of the client's and a refusal of the limit's are both a `BoxError`.
    let plain = ServiceBuilder::new().map_err(BoxError::from).service(client.clone());
    let (served, refused) = call(plain, &url).await?;
    println!("without a limit: {served} served, {refused} refused");

    // They count when a request arrives, and we when it leaves: one that was slow on its way comes closer to the next. So
    // we stay below their limit by what our requests may differ on their way, here by half a second at most.
    let quota = Quota::new(10, Duration::from_millis(1500));
    let limit = RateLimitLayer::sliding_log("their-api", quota, Global, MemoryStore::new())
        .wait(Duration::from_secs(30))
        .respond_with(AsError);
    let polite = ServiceBuilder::new()
        .layer(limit)
        .map_err(BoxError::from)
        .service(client);
    // What they have just counted is forgotten then.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let start = Instant::now();
    let (served, refused) = call(polite, &url).await?;
    let seconds = start.elapsed().as_secs_f64();
    println!("with a limit: {served} served, {refused} refused, in {seconds:.1} s");
    Ok(())
}
