//! One of the four processes: a service as anybody would write it, which says who decided.

use std::error::Error;

use axum::{Router, routing::get};
use tokio::net::TcpListener;
use tollgate::{
    AnswerBody, Decision, FixedWindow, Header, HttpAnswers, MemoryStore, RateLimitLayer, RedisStore, Rejection,
};

use crate::{
    answer::Answer,
    heartbeat::Heartbeat,
    limits::{DEADLINE, HEADER, Mode, rule},
};

/// What it says when it can be asked.
pub(crate) const READY: &str = "listening";

#[tokio::main(worker_threads = 2)]
pub(crate) async fn serve(port: u16, redis: &str) -> Result<(), Box<dyn Error + Send + Sync>> {
    let store = RedisStore::builder().url(redis).deadline(DEADLINE).build()?;
    store.check().await?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("{READY}");
    Ok(axum::serve(listener, app(store, Heartbeat::start(|| {}))).await?)
}

fn app(store: RedisStore, heartbeat: Heartbeat) -> Router {
    let open = layer(Mode::Open, &store).fail_open();
    let closed = layer(Mode::Closed, &store).fail_closed();
    let local = layer(Mode::Local, &store).fallback(MemoryStore::new());
    Router::new()
        .route("/open", get(admitted).layer(open))
        .route("/closed", get(admitted).layer(closed))
        .route("/local", get(admitted).layer(local))
        .route("/health", get(async move || store.health().to_string()))
        .route("/stalls", get(async move || stalls(&heartbeat)))
}

fn layer(mode: Mode, store: &RedisStore) -> RateLimitLayer<FixedWindow, Header, RedisStore> {
    RateLimitLayer::new(mode.name(), rule(), Header::new(HEADER), store.clone())
        .respond_with(HttpAnswers::new().body(refused))
}

async fn admitted(decision: Decision) -> String {
    Answer::of(&decision).to_string()
}

/// A line each.
fn stalls(heartbeat: &Heartbeat) -> String {
    heartbeat.take().iter().map(|stall| format!("{stall}\n")).collect()
}

fn refused(why: &Rejection) -> AnswerBody {
    AnswerBody::plain(Answer::to_refused(why).to_string())
}
