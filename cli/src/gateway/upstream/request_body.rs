//! The body of a forwarded request, and which side stalls it.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{Error, body::Bytes};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::{
    sync::{oneshot, watch},
    time::{Instant, sleep_until},
};

use super::Timeouts;
use crate::server::connection::UnreadBody;

/// A body that reports which side it waits for. It ends with an error when its [`UploadMonitor`] is dropped.
pub(crate) struct RequestBody {
    body: Incoming,
    waiting_for: watch::Sender<(Side, Instant)>,
    canceled: oneshot::Receiver<()>,
    unread: Option<UnreadBody>,
}

/// Watches the upload of a [`RequestBody`] for timeouts, and cancels it when dropped.
pub(crate) struct UploadMonitor {
    waiting_for: watch::Receiver<(Side, Instant)>,
    _cancel: oneshot::Sender<()>,
}

/// The side that an upload waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The client has not sent the next frame.
    Client,
    /// The upstream has not taken the last frame, or has taken the whole body and not responded.
    Upstream,
}

impl RequestBody {
    pub(crate) fn new(body: Incoming, unread: Option<UnreadBody>) -> (Self, UploadMonitor) {
        let (sender, receiver) = watch::channel((Side::Upstream, Instant::now()));
        let (cancel, canceled) = oneshot::channel();
        let body = Self {
            body,
            waiting_for: sender,
            canceled,
            unread,
        };
        let monitor = UploadMonitor {
            waiting_for: receiver,
            _cancel: cancel,
        };
        (body, monitor)
    }

    fn set_waiting_for(&self, side: Side, restart: bool) {
        self.waiting_for.send_if_modified(|current| {
            let is_modified = restart || current.0 != side;
            if is_modified {
                *current = (side, Instant::now());
            }
            is_modified
        });
    }
}

impl UploadMonitor {
    /// Returns the side whose timeout elapses first.
    pub(crate) async fn timed_out(&mut self, timeouts: Timeouts) -> Side {
        loop {
            let (side, since) = *self.waiting_for.borrow_and_update();
            let deadline = sleep_until(since + side.timeout(timeouts));
            tokio::select! {
                () = deadline => return side,
                Ok(()) = self.waiting_for.changed() => {}
            }
        }
    }
}

impl Side {
    fn timeout(self, timeouts: Timeouts) -> Duration {
        match self {
            Self::Client => timeouts.client,
            Self::Upstream => timeouts.upstream,
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if Pin::new(&mut self.canceled).poll(context).is_ready() {
            return Poll::Ready(Some(Err(Error::new("the request is already answered"))));
        }
        let frame = Pin::new(&mut self.body).poll_frame(context);
        match &frame {
            Poll::Pending => self.set_waiting_for(Side::Client, false),
            Poll::Ready(_) => self.set_waiting_for(Side::Upstream, true),
        }
        // A chunked body does not know its end beforehand.
        let is_end = match &frame {
            Poll::Ready(Some(Ok(frame))) => frame.is_trailers() || self.body.is_end_stream(),
            Poll::Ready(None) => true,
            Poll::Ready(Some(Err(_))) | Poll::Pending => false,
        };
        if is_end && let Some(unread) = self.unread.take() {
            unread.finish();
        }
        frame.map_err(Error::new)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
