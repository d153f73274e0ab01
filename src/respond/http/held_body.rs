//! A body that holds the slots of its request until it has ended.

use std::{
    any::Any,
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::permit::Permit;

pin_project! {
    /// A response body that holds the slots of its request until it has ended, has failed or is dropped: the result of
    /// [`Permit::hold_body`].
    pub struct HeldBody<B> {
        #[pin]
        body: B,
        permit: Option<Permit>,
    }
}

impl Permit {
    /// Holds the slots until a body has ended, has failed or is dropped. A layer does it for axum's bodies; a service with another type
    /// of body has to do it with the permit in the extensions of its request, or its slots are released with the head of the response.
    pub fn hold_body<B: Body>(self, body: B) -> HeldBody<B> {
        let permit = Some(self).filter(|_| !body.is_end_stream());
        HeldBody { body, permit }
    }
}

impl<B: Body> Body for HeldBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let mut this = self.project();
        let frame = ready!(this.body.as_mut().poll_frame(context));
        // A body that is complete is not always polled again.
        if !matches!(frame, Some(Ok(_))) || this.body.is_end_stream() {
            *this.permit = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> fmt::Debug for HeldBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldBody").finish_non_exhaustive()
    }
}

/// Inserts the permit into the request's extensions, together with that of an outer layer.
pub(super) fn forward_permit<B>(permit: &Permit, request: &mut Request<B>) {
    let extensions = request.extensions_mut();
    if let Some(outer) = extensions.insert(permit.clone()) {
        extensions.insert(outer.and(permit.clone()));
    }
}

/// Holds the slots until the body has ended, if it is of axum's type. The type of another body cannot be kept.
pub(super) fn hold<C: 'static>(permit: Permit, response: &mut Response<C>) {
    let body: &mut dyn Any = response.body_mut();
    #[cfg(feature = "axum")]
    if let Some(body) = body.downcast_mut::<axum::body::Body>()
        && !body.is_end_stream()
    {
        let held = permit.hold_body(std::mem::take(body));
        *body = axum::body::Body::new(held);
        return;
    }
    let _ = (permit, body);
}
