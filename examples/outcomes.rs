//! Costs that depend on the outcome: logins of which only failures count, answers charged by the word, uploads charged by the
//! byte; and exempt and blocked requests.
//!
//! Run it with `cargo run --example outcomes`, then for example
//!
//! ```sh
//! curl -i http://127.0.0.1:3000/login -d 'open sesame'                       # without limit
//! curl -i http://127.0.0.1:3000/login -d 'open barley'                       # five times
//! curl -i http://127.0.0.1:3000/ask                                          # charged 50 words, settled to 6
//! curl -i http://127.0.0.1:3000/upload --data-binary @Cargo.toml             # 20,000 bytes an hour
//! curl -i http://127.0.0.1:3000/healthz                                      # exempt
//! curl -i http://127.0.0.1:3000/ask -A scraper                               # blocked with 403
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
use tollgate::{ContentLength, Decision, Global, MemoryStore, Quota, RateLimitLayer, SentBody, Store, Tier};

async fn login(password: String) -> StatusCode {
    match password.as_str() {
        "open sesame" => StatusCode::OK,
        _ => StatusCode::UNAUTHORIZED,
    }
}

/// The number of words of an answer so far. The layer reads it from the response's extensions.
#[derive(Clone, Default)]
struct Words(Arc<AtomicU64>);

/// Streams an answer word by word; the number of words is not known in advance.
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

/// Reports the outcomes of shadow tiers.
async fn upload(decision: Decision, body: String) -> String {
    let shadows = decision.tiers().iter().filter(|tier| tier.is_shadow());
    let shadows: Vec<_> = shadows
        .map(|tier| format!("{}: {}", tier.limit().name(), tier.verdict().outcome()))
        .collect();
    format!("{} bytes ({})\n", body.len(), shadows.join(", "))
}

fn app(store: impl Store) -> Router {
    let quarter_of_an_hour = Duration::from_secs(15 * 60);
    let logins = Tier::sliding_log("logins", Quota::new(5, quarter_of_an_hour), Global)
        .refund_if(|response: &Response| response.status().is_success());
    let words = Tier::token_bucket("words", Quota::per_minute(100), Global)
        .cost(|_: &Request| 50)
        .settle_body(|sent: &SentBody| Some(sent.extensions().get::<Words>()?.0.load(Ordering::Relaxed)));
    let upload_bytes = Tier::token_bucket("uploads", Quota::per_hour(20_000), Global).cost(ContentLength::or(5_000));
    // To see which requests a limit of two uploads an hour would deny.
    let upload_count = Tier::sliding_counter("upload-count", Quota::per_hour(2), Global).shadow();
    let uploads = RateLimitLayer::new(upload_bytes, store.clone()).tier(upload_count);
    let all = RateLimitLayer::sliding_counter("all", Quota::per_minute(1000), Global, store.clone())
        .exempt(|request: &Request| request.uri().path() == "/healthz")
        .block(|request: &Request| {
            request
                .headers()
                .get("user-agent")
                .is_some_and(|agent| agent == "scraper")
        });
    Router::new()
        .route("/login", post(login).layer(RateLimitLayer::new(logins, store.clone())))
        .route("/ask", get(ask).layer(RateLimitLayer::new(words, store)))
        .route("/upload", post(upload).layer(uploads))
        .route("/healthz", get(async || "ok"))
        .layer(all)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let listen = env::var("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let listener = TcpListener::bind(&listen)
        .await
        .map_err(|error| format!("cannot listen on {listen} (set LISTEN=ADDRESS:PORT to change it): {error}"))?;
    println!("listening on http://{}", listener.local_addr()?);
    Ok(axum::serve(listener, app(MemoryStore::new())).await?)
}
