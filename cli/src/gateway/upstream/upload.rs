//! A request's body on its way, and whom it waits for.

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

use crate::gateway::{bounds::Timeouts, guest::Unread};

/// A body that tells whom it waits for, and ends when nobody waits for it any more.
pub(crate) struct Upload {
    body: Incoming,
    waiting: watch::Sender<(Party, Instant)>,
    unwanted: oneshot::Receiver<()>,
    unread: Option<Unread>,
}

/// Whoever waits for an upload to be answered. Once this is dropped, the rest of it is not wanted.
pub(crate) struct Wait {
    waiting: watch::Receiver<(Party, Instant)>,
    _wanted: oneshot::Sender<()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Party {
    /// The next piece has not come.
    Client,
    /// It has not taken what there is, or has everything and does not answer.
    Upstream,
}

impl Upload {
    pub(crate) fn new(body: Incoming, unread: Option<Unread>) -> (Self, Wait) {
        let (sender, receiver) = watch::channel((Party::Upstream, Instant::now()));
        let (wanted, unwanted) = oneshot::channel();
        let upload = Self {
            body,
            waiting: sender,
            unwanted,
            unread,
        };
        let wait = Wait {
            waiting: receiver,
            _wanted: wanted,
        };
        (upload, wait)
    }

    fn waits_for(&self, party: Party, anew: bool) {
        self.waiting.send_if_modified(|now| {
            let modified = anew || now.0 != party;
            if modified {
                *now = (party, Instant::now());
            }
            modified
        });
    }
}

impl Wait {
    /// Returns as soon as one of them has been waited for too long, and says which.
    pub(crate) async fn too_long(&mut self, timeouts: Timeouts) -> Party {
        loop {
            let (party, since) = *self.waiting.borrow_and_update();
            let end = sleep_until(since + party.timeout(timeouts));
            tokio::select! {
                () = end => return party,
                Ok(()) = self.waiting.changed() => {}
            }
        }
    }
}

impl Party {
    fn timeout(self, timeouts: Timeouts) -> Duration {
        match self {
            Self::Client => timeouts.client,
            Self::Upstream => timeouts.upstream,
        }
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if Pin::new(&mut self.unwanted).poll(context).is_ready() {
            return Poll::Ready(Some(Err(Error::new("it has been answered"))));
        }
        let frame = Pin::new(&mut self.body).poll_frame(context);
        match &frame {
            Poll::Pending => self.waits_for(Party::Client, false),
            Poll::Ready(_) => self.waits_for(Party::Upstream, true),
        }
        if self.body.is_end_stream()
            && let Some(unread) = self.unread.take()
        {
            unread.is_read();
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
