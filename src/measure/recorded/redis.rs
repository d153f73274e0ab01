//! How Redis does, as requests see it.

use std::{
    collections::BTreeMap,
    sync::{LazyLock, Mutex, PoisonError},
    time::Instant,
};

use metrics::{Key, Label};

use super::{
    super::Wait,
    handles::{gauge, histogram, key},
    names,
};

/// Measures how long a request waits for Redis, also if its client leaves meanwhile.
pub(crate) struct Stopwatch {
    since: Instant,
    wait: Option<Wait>,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        let (since, wait) = (Instant::now(), Some(Wait::Left));
        Self { since, wait }
    }

    /// The wait is over; there was none for a Redis that is not asked.
    pub(crate) fn stop(mut self, wait: Option<Wait>) {
        self.wait = wait;
    }
}

impl Drop for Stopwatch {
    fn drop(&mut self) {
        static KEYS: LazyLock<[Key; 3]> = LazyLock::new(|| {
            let key = |wait: Wait| key(names::STORE, [Label::from_static_parts("outcome", wait.name())]);
            [Wait::Answered, Wait::Failed, Wait::Left].map(key)
        });
        if let Some(wait) = self.wait {
            histogram(&KEYS[wait as usize]).record(self.since.elapsed());
        }
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
    let count = open.get(server).map_or(0, |count| *count).saturating_add_signed(change);
    let label = Label::new("server", server.to_owned());
    // Before anybody else is counted: the last one to be counted is the last one to tell.
    gauge(&key(names::BREAKER_OPEN, [label])).set(count as f64);
    // Addresses come and go, and those that are well need not be remembered.
    match count {
        0 => open.remove(server),
        count => open.insert(server.to_owned(), count),
    };
}
