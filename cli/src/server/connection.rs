//! Limits and state of connections.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hyper::body::{Body, Incoming};
use tokio::sync::OwnedSemaphorePermit;

use super::metrics::ConnectionGuard;

/// The read buffer of a connection, which bounds the head of a request or response.
pub(crate) const MAX_HEAD_BYTES: usize = 64 << 10;

/// The interval of TCP keepalive probes, which detect dead peers of idle connections: a WebSocket may be idle indefinitely.
pub(crate) const TCP_KEEPALIVE_INTERVAL: Duration = Duration::from_secs(60);

/// The permit of a client connection. A WebSocket tunnel keeps a clone of it.
#[derive(Clone)]
pub(crate) struct ConnectionPermit {
    /// Dropped in this order: the gauge is decremented before the next connection gets the permit.
    _guard: Arc<(ConnectionGuard, OwnedSemaphorePermit)>,
}

impl ConnectionPermit {
    pub(crate) fn new(permit: OwnedSemaphorePermit, guard: ConnectionGuard) -> Self {
        let _guard = Arc::new((guard, permit));
        Self { _guard }
    }
}

/// Whether a part of the last request's body is unread.
#[derive(Clone, Default)]
pub(crate) struct UnreadBody(Arc<AtomicBool>);

impl UnreadBody {
    /// Marks the body of a new request.
    pub(crate) fn start(&self, body: &Incoming) {
        self.0.store(!body.is_end_stream(), Ordering::Relaxed);
    }

    /// Marks the body as read to its end.
    pub(crate) fn finish(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    pub(crate) fn is_unread(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
