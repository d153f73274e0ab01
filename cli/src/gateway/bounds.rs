//! How much either side may make the gateway hold, and how long it may keep it waiting.

use std::time::Duration;

/// The most that is read ahead, and so the longest head: 64 KiB, of a request as of an answer.
pub(crate) const MOST_OF_A_HEAD: usize = 64 << 10;

/// How often a connection that rests is asked whether its other end is still there: a WebSocket may rest for as long as it is.
pub(crate) const PULSE: Duration = Duration::from_secs(60);

/// How long each side may keep the gateway waiting.
#[derive(Clone, Copy)]
pub(crate) struct Timeouts {
    pub(crate) client: Duration,
    pub(crate) upstream: Duration,
}
