//! Requests that cost what they turn out to cost: logins of which only failures count, answers that are paid by the word,
//! uploads that are paid by the byte; and requests that are not counted at all.
//!
//! Run it with `cargo run --example outcomes`, then for example
//!
//! ```sh
//! curl -i http://127.0.0.1:3000/login -d 'open sesame'                       # as often as you like
//! curl -i http://127.0.0.1:3000/login -d 'open barley'                       # five times
//! curl -i http://127.0.0.1:3000/ask                                          # estimated at 50 words, it takes 6
//! curl -i http://127.0.0.1:3000/upload --data-binary @Cargo.toml             # 20,000 bytes an hour
//! curl -i http://127.0.0.1:3000/healthz                                      # never counted
//! curl -i http://127.0.0.1:3000/ask -A scraper                               # never served
//! ```

use std::{
    env,
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    Extension, Router,
    body::Body,
    extract::Request,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures_util::stream;
use tokio::net::TcpListener;
use tollgate::{ContentLength, Decision, Global, MemoryStore, Quota, RateLimitLayer, Sent, SlidingCounter, Store};

async fn login(password: String) -> StatusCode {
    match password.as_str() {
        "open sesame" => StatusCode::OK,
        _ => StatusCode::UNAUTHORIZED,
    }
}

/// How many words an answer has had so far. It is in the response's extensions, where the layer finds it.
#[derive(Clone, Default)]
struct Words(Arc<AtomicU64>);

/// Answers word by word, and nobody knows beforehand how many there will be.
async fn ask() -> impl IntoResponse {
    let words = Words::default();
    let counter = words.clone();
    let answer = "It depends on what you mean.\n".split_inclusive(' ');
    let answer = answer.map(move |word| {
        counter.0.fetch_add(1, Ordering::Relaxed);
        Ok::<_, std::convert::Infallible>(word)
    });
    (Extension(words), Body::from_stream(stream::iter(answer)))
}

/// Tells what a tier that is tried out would have said.
async fn upload(decision: Decision, body: String) -> String {
    let shadows = decision.tiers().iter().filter(|tier| tier.is_shadow());
    let shadows: Vec<_> = shadows
        .map(|tier| format!("{}: {}", tier.limit().name(), tier.verdict().outcome()))
        .collect();
    format!("{} bytes ({})\n", body.len(), shadows.join(", "))
}

fn app(store: impl Store) -> Router {
    let quarter_of_an_hour = Duration::from_secs(15 * 60);
    let logins = RateLimitLayer::sliding_log("logins", Quota::new(5, quarter_of_an_hour), Global, store.clone())
        .refund_if(|response: &Response| response.status().is_success());
    let words = RateLimitLayer::token_bucket("words", Quota::per_minute(100), Global, store.clone())
        .cost(|_: &Request| 50)
        .settle_body(|sent: &Sent| Some(sent.extensions().get::<Words>()?.0.load(Ordering::Relaxed)));
    let uploads = RateLimitLayer::token_bucket("uploads", Quota::per_hour(20_000), Global, store.clone())
        .cost(ContentLength::or(5_000))
        // Would two uploads an hour do? Let us see whom that would hit.
        .tier("upload-count", SlidingCounter::new(Quota::per_hour(2)), Global)
        .shadow();
    let all = RateLimitLayer::sliding_counter("all", Quota::per_minute(1000), Global, store)
        .exempt(|request: &Request| request.uri().path() == "/healthz")
        .deny(|request: &Request| {
            request
                .headers()
                .get("user-agent")
                .is_some_and(|agent| agent == "scraper")
        });
    Router::new()
        .route("/login", post(login).layer(logins))
        .route("/ask", get(ask).layer(words))
        .route("/upload", post(upload).layer(uploads))
        .route("/healthz", get(async || "ok"))
        .layer(all)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listen = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let listener = TcpListener::bind(&listen)
        .await
        .map_err(|error| format!("cannot listen on {listen} (LISTEN=ADDRESS:PORT says where): {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, app(MemoryStore::new())).await?)
}
