//! One of the four processes: an ordinary rate-limited service whose responses state which store decided.

use std::error::Error;

use axum::{Router, routing::get};
use tokio::net::TcpListener;
use tollgate::{
    Decision, FixedWindow, Header, HttpResponder, MemoryStore, RateLimitLayer, RedisStore, Rejection, RejectionBody,
    Tier,
};

use crate::{
    answer::Answer,
    limits::{DEADLINE, Mode, USER_HEADER, algorithm},
    stall_detector::StallDetector,
};

/// The line that the process prints when it accepts requests.
pub(crate) const READY: &str = "listening";

#[tokio::main(worker_threads = 2)]
pub(crate) async fn serve(port: u16, redis: &[String]) -> Result<(), Box<dyn Error + Send + Sync>> {
    let store = RedisStore::builder().deadline(DEADLINE);
    let store = match redis {
        [standalone] => store.url(standalone),
        nodes => store.cluster(nodes),
    };
    let store = store.build()?;
    store.check().await?;
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("{READY}");
    Ok(axum::serve(listener, app(store, StallDetector::start(|| {}))).await?)
}

fn app(store: RedisStore, detector: StallDetector) -> Router {
    let open = layer(Mode::Open, &store).fail_open();
    let closed = layer(Mode::Closed, &store).fail_closed();
    let local = layer(Mode::Local, &store).fallback(MemoryStore::new());
    Router::new()
        .route("/open", get(admitted).layer(open))
        .route("/closed", get(admitted).layer(closed))
        .route("/local", get(admitted).layer(local))
        .route("/health", get(async move || store.health().to_string()))
        .route("/stalls", get(async move || stalls(&detector)))
}

fn layer(mode: Mode, store: &RedisStore) -> RateLimitLayer<FixedWindow, Header, RedisStore> {
    RateLimitLayer::new(
        Tier::new(mode.name(), algorithm(), Header::new(USER_HEADER)),
        store.clone(),
    )
    .respond_with(HttpResponder::new().body(rejected))
}

async fn admitted(decision: Decision) -> String {
    Answer::from_decision(&decision).to_string()
}

/// One line per stall.
fn stalls(detector: &StallDetector) -> String {
    detector.take().iter().map(|stall| format!("{stall}\n")).collect()
}

fn rejected(rejection: &Rejection) -> RejectionBody {
    RejectionBody::plain(Answer::from_rejection(rejection).to_string())
}
