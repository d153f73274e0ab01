//! An answer's body on its way.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{BoxError, body::Bytes};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tower_http::timeout::TimeoutBody;

use super::upload::Wait;

pin_project_lite::pin_project! {
    /// A body whose pieces may not keep anybody waiting. When it ends, so does what is left of the request.
    pub(crate) struct Download {
        #[pin]
        body: TimeoutBody<Incoming>,
        _request: Wait,
    }
}

impl Download {
    pub(crate) fn new(body: Incoming, timeout: Duration, request: Wait) -> Self {
        let body = TimeoutBody::new(timeout, body);
        Self {
            body,
            _request: request,
        }
    }
}

impl Body for Download {
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
