//! What the recorder hands out.
//!
//! Keys are made once and kept; handles are not. Whoever asks for a handle before there is a recorder gets one that does nothing
//! for ever, and asking each time also finds a recorder that a test has set for its own thread.

use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, with_recorder};

static METADATA: Metadata<'static> = Metadata::new("tollgate", Level::INFO, Some(module_path!()));

/// A metric by its name and labels, which costs nothing to hand on. Recorders compare it with those they have, and with more
/// than two labels that takes them twice as long.
pub(super) fn key<const N: usize>(name: &'static str, labels: [Label; N]) -> Key {
    Key::from_parts(name, labels.to_vec()).to_retained()
}

pub(super) fn counter(key: &Key) -> Counter {
    with_recorder(|recorder| recorder.register_counter(key, &METADATA))
}

pub(super) fn gauge(key: &Key) -> Gauge {
    with_recorder(|recorder| recorder.register_gauge(key, &METADATA))
}

pub(super) fn histogram(key: &Key) -> Histogram {
    with_recorder(|recorder| recorder.register_histogram(key, &METADATA))
}
