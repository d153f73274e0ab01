//! What a request knows of the connection that it came by.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use hyper::body::{Body, Incoming};
use tokio::sync::OwnedSemaphorePermit;

use crate::gateway::measures::Open;

/// A connection's place, given back when the last that needs it is dropped.
#[derive(Clone)]
pub(crate) struct Room {
    /// They are dropped in this order: whoever gets the place finds that this one is no longer open.
    _place: Arc<(Open, OwnedSemaphorePermit)>,
}

impl Room {
    pub(crate) fn new(place: OwnedSemaphorePermit, open: Open) -> Self {
        let _place = Arc::new((open, place));
        Self { _place }
    }
}

/// Whether the client may still be sending what nobody has read, of its last request.
#[derive(Clone, Default)]
pub(crate) struct Unread(Arc<AtomicBool>);

impl Unread {
    pub(crate) fn begins(&self, body: &Incoming) {
        self.0.store(!body.is_end_stream(), Ordering::Relaxed);
    }

    /// It has been read to its end.
    pub(crate) fn is_read(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    pub(crate) fn is_left(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
