//! Which keys the store has warned of.

use std::{
    fmt,
    sync::{LazyLock, Mutex},
};

use tracing::{Event, Level, Metadata, Subscriber, field, span};

/// The keys that warnings have named, in the whole process.
static NAMED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Writes warnings down from when it is first looked at.
static LOG: LazyLock<()> = LazyLock::new(|| tracing::subscriber::set_global_default(Log).unwrap());

struct Log;

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tollgate") && *metadata.level() == Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Keys);
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

struct Keys;

impl field::Visit for Keys {
    fn record_str(&mut self, field: &field::Field, value: &str) {
        if field.name() == "key" {
            NAMED.lock().unwrap().push(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &field::Field, _: &dyn fmt::Debug) {}
}

/// Begins to write warnings down.
pub(crate) fn listen() {
    LazyLock::force(&LOG);
}

/// The keys that begin like this and have been warned of since the last look.
pub(crate) fn of(prefix: &str) -> Vec<String> {
    let ours = |key: &mut String| key.starts_with(prefix);
    NAMED.lock().unwrap().extract_if(.., ours).collect()
}
