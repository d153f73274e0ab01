//! Handlers that do as they are told, by a request or by the test.

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

use crate::over_http::fixture::yielding;

/// A number that stands in a header.
pub(crate) fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    Some(headers.get(name)?.to_str().unwrap().parse().unwrap())
}

/// What a request says that it costs.
pub(crate) fn asked(request: &Request) -> Option<u64> {
    number(request.headers(), "x-cost")
}

/// What a response says that its request has cost.
pub(crate) fn told(response: &Response) -> Option<u64> {
    number(response.headers(), "x-true-cost")
}

pub(crate) fn is_success(response: &Response) -> bool {
    response.status().is_success()
}

/// Answers with the status that a request asks for, 200 unless it does, and with its headers.
fn oblige(headers: HeaderMap) -> Response {
    let status = number(&headers, "x-status").unwrap_or(200);
    let mut response = StatusCode::from_u16(status as u16).unwrap().into_response();
    let told = headers.into_iter().filter_map(|(name, value)| Some((name?, value)));
    response
        .headers_mut()
        .extend(told.filter(|(name, _)| name.as_str().starts_with("x-")));
    response
}

/// An app that answers at once as it is asked to.
pub(crate) fn obliging() -> Router {
    Router::new().route("/", any(async |headers: HeaderMap| oblige(headers)))
}

/// Keeps requests in their handler until the test lets them go.
#[derive(Clone)]
pub(crate) struct Keeper {
    inside: Arc<AtomicUsize>,
    leave: Arc<Semaphore>,
}

/// A request that is inside, until it is answered or its client leaves.
pub(crate) struct Inside(Arc<AtomicUsize>);

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Keeper {
    pub(crate) fn new() -> Self {
        Self {
            inside: Arc::default(),
            leave: Arc::new(Semaphore::new(0)),
        }
    }

    /// Comes in.
    pub(crate) fn enter(&self) -> Inside {
        self.inside.fetch_add(1, Ordering::SeqCst);
        Inside(self.inside.clone())
    }

    /// Comes in, and waits to be let go.
    pub(crate) async fn keep(self) {
        let _inside = self.enter();
        self.leave.acquire().await.unwrap().forget();
    }

    /// Waits until so many are inside.
    pub(crate) async fn keeps(&self, requests: usize) {
        yielding(async || self.inside() == requests).await;
    }

    pub(crate) fn inside(&self) -> usize {
        self.inside.load(Ordering::SeqCst)
    }

    pub(crate) fn let_go(&self, requests: usize) {
        self.leave.add_permits(requests);
    }

    /// An app that keeps every request, and then answers as it is asked to.
    pub(crate) fn obliging(&self) -> Router {
        let keeper = self.clone();
        let handler = async move |headers: HeaderMap| {
            keeper.keep().await;
            oblige(headers)
        };
        Router::new().route("/", any(handler))
    }
}

/// What the next frame of a body holds, or why there is none.
pub(crate) type Chunk = Result<&'static str, &'static str>;

/// A body that is sent chunk by chunk. It ends when its sender does.
pub(crate) struct Chunks(mpsc::UnboundedReceiver<Chunk>);

impl Chunks {
    pub(crate) fn new() -> (mpsc::UnboundedSender<Chunk>, Self) {
        let (sender, chunks) = mpsc::unbounded_channel();
        (sender, Self(chunks))
    }

    /// All of them at once.
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
