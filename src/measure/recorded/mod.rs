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
use super::{By, Fate};

static METADATA: Metadata<'static> = Metadata::new("tollgate", Level::INFO, Some(module_path!()));

/// Counts a request.
pub(crate) fn request(fate: Fate, by: By) {
    requests(fate, by).increment(1);
}

/// Whoever waits for the first of these sees a rate only if there was a count before it.
#[cfg(feature = "redis")]
fn foresee_failures() {
    for fate in [Fate::Unchecked, Fate::Unavailable] {
        requests(fate, By::Nobody).increment(0);
    }
}

fn requests(fate: Fate, by: By) -> Counter {
    static KEYS: LazyLock<[[Key; 3]; 8]> = LazyLock::new(|| {
        let key = |fate: Fate, by: By| {
            let outcome = Label::from_static_parts("outcome", fate.name());
            key(names::REQUESTS, [outcome, Label::from_static_parts("by", by.name())])
        };
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
        .map(|fate| [By::Store, By::Fallback, By::Nobody].map(|by| key(fate, by)))
    });
    counter(&KEYS[fate as usize][by as usize])
}

/// A metric by its name and labels, which costs nothing to hand on. Recorders compare it with those they have, and with more
/// than two labels that takes them twice as long.
fn key<const N: usize>(name: &'static str, labels: [Label; N]) -> Key {
    Key::from_parts(name, labels.to_vec()).to_retained()
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
