//! The pending response of a request.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering, fence},
    },
    task::{Context, Poll, ready},
};

use deadpool_redis::redis::{ErrorKind, RedisError};
use tokio::{
    runtime::Handle,
    sync::oneshot,
    time::{Instant, Sleep, sleep_until},
};

use super::queue::Queue;
use crate::{
    receipt::Receipt,
    store::redis::{batch::Response, error::StoreError},
};

/// The pending response of a request.
#[must_use = "futures do nothing unless polled"]
pub(crate) struct PendingResponse {
    /// The address that an error names.
    address: Arc<str>,
    response: oneshot::Receiver<Response>,
    sending: Sending,
    /// Whether it may have been sent; `None` if it is sent in any case, in parts.
    sent: Option<Arc<AtomicBool>>,
}

/// What sends the request.
pub(super) enum Sending {
    /// The task of the request itself.
    Inline(Pin<Box<dyn Future<Output = ()> + Send>>),
    /// A sender task.
    Queued(QueuedRequest),
    /// The request was sent inline, and the call has ended.
    Done,
}

/// A request in a queue. Its sender task may be on a runtime that is not running, so the caller enforces the deadline.
pub(super) struct QueuedRequest {
    queue: Arc<Queue>,
    deadline: Pin<Box<Sleep>>,
    sent: Arc<AtomicBool>,
    /// Whether it is sent even if nobody waits for it any more.
    is_correction: bool,
}

impl QueuedRequest {
    pub(super) fn new(queue: &Arc<Queue>, deadline: Instant, sent: Arc<AtomicBool>, is_correction: bool) -> Self {
        Self {
            queue: Arc::clone(queue),
            deadline: Box::pin(sleep_until(deadline)),
            sent,
            is_correction,
        }
    }
}

impl PendingResponse {
    pub(super) fn new(
        address: &Arc<str>,
        response: oneshot::Receiver<Response>,
        sending: Sending,
        sent: Option<Arc<AtomicBool>>,
    ) -> Self {
        let address = Arc::clone(address);
        Self {
            address,
            response,
            sending,
            sent,
        }
    }

    /// Whether it may have been sent. Then there will be a response, even if the request is cancelled.
    pub(crate) fn is_sent(&self) -> bool {
        self.sent.as_ref().is_none_or(|sent| sent.load(Ordering::Relaxed))
    }

    /// Gives up waiting, and returns the response if there is one.
    pub(crate) fn take_response(&mut self) -> Option<Response> {
        self.response.close();
        self.response.try_recv().ok()
    }

    /// The request may have been sent.
    fn runtime_has_ended(&self) -> StoreError {
        let ended = RedisError::from((ErrorKind::Io, "the runtime has ended"));
        StoreError::after_sending(&self.address, ended)
    }

    /// Gives up waiting. Returns whether it may have been sent.
    pub(crate) fn cancel(&mut self) -> bool {
        self.response.close();
        // The sender sets the flag before it looks whether the channel is closed.
        fence(Ordering::SeqCst);
        self.is_sent()
    }
}

impl Future for PendingResponse {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        // Without a runtime, timers and new tasks would panic: the call ends, and lets the holder and the leases know.
        let has_runtime = Handle::try_current().is_ok();
        if let Sending::Inline(call) = &mut self.sending
            && (!has_runtime || call.as_mut().poll(context).is_ready())
        {
            self.sending = Sending::Done;
        }
        if let Poll::Ready(response) = Pin::new(&mut self.response).poll(context) {
            return Poll::Ready(response.unwrap_or_else(|_| Err(self.runtime_has_ended())));
        }
        if !has_runtime {
            return Poll::Ready(Err(self.runtime_has_ended()));
        }
        let Self { response, sending, .. } = &mut *self;
        let Sending::Queued(request) = sending else {
            return Poll::Pending;
        };
        ready!(request.deadline.as_mut().poll(context));
        response.close();
        if let Ok(response) = response.try_recv() {
            return Poll::Ready(response);
        }
        // The sender sets the flag before it looks whether the channel is closed.
        fence(Ordering::SeqCst);
        let is_sent = request.is_correction || request.sent.load(Ordering::Relaxed);
        Poll::Ready(Err(request.queue.expired(is_sent)))
    }
}

/// A call is completed in the background when its request is cancelled: its result shows whether the connection works.
impl Drop for PendingResponse {
    fn drop(&mut self) {
        if let Sending::Inline(call) = std::mem::replace(&mut self.sending, Sending::Done)
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn(call);
        }
    }
}

/// The response of one part of a request. If it is dropped after the response has arrived, because no runtime runs, `release` gets what
/// the part holds of concurrency limits.
pub(super) struct PartResponse<R: FnMut(Receipt)> {
    response: PendingResponse,
    release: R,
}

impl<R: FnMut(Receipt)> PartResponse<R> {
    pub(super) fn new(response: PendingResponse, release: R) -> Self {
        Self { response, release }
    }
}

impl<R: FnMut(Receipt) + Unpin> Future for PartResponse<R> {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Response> {
        Pin::new(&mut self.response).poll(context)
    }
}

impl<R: FnMut(Receipt)> Drop for PartResponse<R> {
    fn drop(&mut self) {
        if let Some(Ok(mut decision)) = self.response.take_response()
            && let Some(receipt) = decision.take_held()
        {
            (self.release)(receipt);
        }
    }
}

#[cfg(test)]
mod tests;
