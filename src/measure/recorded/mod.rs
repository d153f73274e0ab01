//! Tells the recorder that is installed.
//!
//! Keys are made once and kept; handles are not. Whoever asks for a handle before there is a recorder gets one that does nothing
//! for ever, and asking each time also finds a recorder that a test has set for its own thread.

mod limit;
mod memory;
mod names;
#[cfg(feature = "redis")]
mod redis;

use std::sync::LazyLock;

use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, with_recorder};

#[cfg(feature = "redis")]
pub(crate) use self::redis::{Stopwatch, batch, breaker};
pub(crate) use self::{limit::LimitMeasures, memory::memory_keys, names::describe};
use super::Fate;

static METADATA: Metadata<'static> = Metadata::new("tollgate", Level::INFO, Some(module_path!()));

/// Counts a request.
pub(crate) fn request(fate: Fate) {
    static KEYS: LazyLock<[Key; 8]> = LazyLock::new(|| {
        [
            Fate::Admitted,
            Fate::Limited,
            Fate::Impossible,
            Fate::Exempt,
            Fate::Denied,
            Fate::Uncounted,
            Fate::Unchecked,
            Fate::Unavailable,
        ]
        .map(|fate| key(names::REQUESTS, [("outcome", fate.name())]))
    });
    counter(&KEYS[fate as usize]).increment(1);
}

/// A metric with labels that are known when the program is written.
fn key<const N: usize>(name: &'static str, labels: [(&'static str, &'static str); N]) -> Key {
    let labels = labels.map(|(label, value)| Label::from_static_parts(label, value));
    Key::from_parts(name, labels.to_vec())
}

fn counter(key: &Key) -> Counter {
    with_recorder(|recorder| recorder.register_counter(key, &METADATA))
}

fn gauge(key: &Key) -> Gauge {
    with_recorder(|recorder| recorder.register_gauge(key, &METADATA))
}

fn histogram(key: &Key) -> Histogram {
    with_recorder(|recorder| recorder.register_histogram(key, &METADATA))
}
