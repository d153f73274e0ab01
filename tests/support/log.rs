//! What tollgate has logged, in the whole process.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{LazyLock, Mutex},
};

use tracing::{Event, Level, Metadata, Subscriber, field, span};

static LINES: Mutex<Vec<Line>> = Mutex::new(Vec::new());

/// Writes lines down from when it is first looked at.
static LOG: LazyLock<()> = LazyLock::new(|| tracing::subscriber::set_global_default(Log).unwrap());

/// What is said of a line or of a span, by name.
#[derive(Clone, Default)]
pub struct Fields(pub BTreeMap<&'static str, String>);

/// A line, with its message among its fields.
pub struct Line {
    pub level: Level,
    fields: Fields,
}

impl Line {
    /// Nothing, if it has no such field.
    pub fn field(&self, name: &str) -> &str {
        self.fields.0.get(name).map_or("", String::as_str)
    }
}

impl field::Visit for Fields {
    fn record_str(&mut self, field: &field::Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }

    fn record_debug(&mut self, field: &field::Field, value: &dyn fmt::Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }
}

struct Log;

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tollgate")
    }

    fn event(&self, event: &Event<'_>) {
        let (level, mut fields) = (*event.metadata().level(), Fields::default());
        event.record(&mut fields);
        LINES.lock().unwrap().push(Line { level, fields });
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// Begins to write down what is logged.
pub fn listen() {
    LazyLock::force(&LOG);
}

/// The lines that are meant, since they were last taken.
pub fn take(is_meant: impl Fn(&Line) -> bool) -> Vec<Line> {
    LINES.lock().unwrap().extract_if(.., |line| is_meant(line)).collect()
}
