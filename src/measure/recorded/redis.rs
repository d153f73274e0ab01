//! How Redis does, as requests see it.

use std::{
    collections::BTreeMap,
    sync::{LazyLock, Mutex, PoisonError},
    time::Instant,
};

use metrics::{Key, Label};

use super::{gauge, histogram, key, names};

/// Measures how long a request waits for Redis.
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    /// The request has its answer, or has been told that there is none.
    pub(crate) fn stop(self, is_answered: bool) {
        static KEYS: LazyLock<[Key; 2]> = LazyLock::new(|| {
            let key = |outcome| key(names::STORE, [Label::from_static_parts("outcome", outcome)]);
            ["failed", "answered"].map(key)
        });
        histogram(&KEYS[usize::from(is_answered)]).record(self.0.elapsed());
    }
}

/// So many requests leave in one call.
pub(crate) fn batch(requests: usize) {
    static KEY: Key = Key::from_static_name(names::BATCH);
    histogram(&KEY).record(requests as f64);
}

/// So many stores more, or fewer, do not ask this server.
pub(crate) fn breaker(server: &str, change: isize) {
    static OPEN: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let count = open.entry(server.to_owned()).or_default();
    *count = count.saturating_add_signed(change);
    let server = Label::new("server", server.to_owned());
    // Before anybody else is counted: the last one to be counted is the last one to tell.
    gauge(&key(names::BREAKER_OPEN, [server])).set(*count as f64);
}
