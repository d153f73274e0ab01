//! The body of an upstream response.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{BoxError, body::Bytes};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tower_http::timeout::TimeoutBody;

use super::request_body::UploadMonitor;

pin_project_lite::pin_project! {
    /// A body with a timeout per frame. When it is dropped, the rest of the request body is not sent.
    pub(crate) struct ResponseBody {
        #[pin]
        body: TimeoutBody<Incoming>,
        _upload: UploadMonitor,
    }
}

impl ResponseBody {
    pub(crate) fn new(body: Incoming, timeout: Duration, upload: UploadMonitor) -> Self {
        let body = TimeoutBody::new(timeout, body);
        Self { body, _upload: upload }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.project().body.poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
