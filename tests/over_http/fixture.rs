//! A server, a client, both stores on a manual clock, and handlers that are controlled by the request or by the test.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use axum::{
    Router,
    body::{Bytes, HttpBody},
    extract::Request,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::any,
};
use http_body::Frame;
use tokio::sync::{Semaphore, mpsc};

pub(crate) use support::{
    each_store::{NOW, TestStore, on_both_stores},
    http::{NOTHING, Reply, Server},
    wait::yield_until,
};

/// The number in a header.
pub(crate) fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    Some(headers.get(name)?.to_str().unwrap().parse().unwrap())
}

/// The cost in a request's `x-cost` header.
pub(crate) fn requested_cost(request: &Request) -> Option<u64> {
    number(request.headers(), "x-cost")
}

/// The true cost in a response's `x-true-cost` header.
pub(crate) fn reported_cost(response: &Response) -> Option<u64> {
    number(response.headers(), "x-true-cost")
}

pub(crate) fn is_success(response: &Response) -> bool {
    response.status().is_success()
}

/// Responds with the status in `x-status`, by default 200, and with the request's `x-` headers.
fn respond_as_requested(headers: HeaderMap) -> Response {
    let status = number(&headers, "x-status").unwrap_or(200);
    let mut response = StatusCode::from_u16(status as u16).unwrap().into_response();
    let copied = headers.into_iter().filter_map(|(name, value)| Some((name?, value)));
    response
        .headers_mut()
        .extend(copied.filter(|(name, _)| name.as_str().starts_with("x-")));
    response
}

/// An app that responds at once, as the request's headers ask.
pub(crate) fn scripted_app() -> Router {
    Router::new().route("/", any(async |headers: HeaderMap| respond_as_requested(headers)))
}

/// Blocks requests in their handler until the test releases them.
#[derive(Clone)]
pub(crate) struct HandlerGate {
    inside: Arc<AtomicUsize>,
    permits: Arc<Semaphore>,
}

/// A request in its handler, until it gets a response or its client disconnects.
pub(crate) struct InsideGuard(Arc<AtomicUsize>);

impl Drop for InsideGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl HandlerGate {
    pub(crate) fn new() -> Self {
        Self {
            inside: Arc::default(),
            permits: Arc::new(Semaphore::new(0)),
        }
    }

    /// Counts a request as inside.
    pub(crate) fn enter(&self) -> InsideGuard {
        self.inside.fetch_add(1, Ordering::SeqCst);
        InsideGuard(self.inside.clone())
    }

    /// Enters, and waits to be released.
    pub(crate) async fn hold(self) {
        let _inside = self.enter();
        self.permits.acquire().await.unwrap().forget();
    }

    /// Waits until this many requests are inside.
    pub(crate) async fn wait_until_inside(&self, requests: usize) {
        yield_until(async || self.inside() == requests).await;
    }

    pub(crate) fn inside(&self) -> usize {
        self.inside.load(Ordering::SeqCst)
    }

    pub(crate) fn release(&self, requests: usize) {
        self.permits.add_permits(requests);
    }

    /// An app that blocks every request, and then responds as its headers ask.
    pub(crate) fn scripted_app(&self) -> Router {
        let gate = self.clone();
        let handler = async move |headers: HeaderMap| {
            gate.hold().await;
            respond_as_requested(headers)
        };
        Router::new().route("/", any(handler))
    }
}

/// The next frame of a body, or its error.
pub(crate) type Chunk = Result<&'static str, &'static str>;

/// A body that is sent chunk by chunk, and ends when its sender is dropped.
pub(crate) struct Chunks(mpsc::UnboundedReceiver<Chunk>);

impl Chunks {
    pub(crate) fn new() -> (mpsc::UnboundedSender<Chunk>, Self) {
        let (sender, chunks) = mpsc::unbounded_channel();
        (sender, Self(chunks))
    }

    /// A body of these chunks, all available at once.
    pub(crate) fn of(chunks: &[&'static str]) -> Self {
        let (sender, body) = Self::new();
        chunks.iter().for_each(|chunk| sender.send(Ok(chunk)).unwrap());
        body
    }
}

impl HttpBody for Chunks {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        let frame = |chunk: &'static str| Frame::data(Bytes::from_static(chunk.as_bytes()));
        self.0
            .poll_recv(context)
            .map(|chunk| chunk.map(|chunk| chunk.map(frame)))
    }
}
