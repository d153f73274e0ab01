//! Captures tollgate's log lines per test.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fmt,
    sync::{LazyLock, Mutex, PoisonError},
    thread,
};

use tracing::{Event, Level, Metadata, Subscriber, field, span};

/// The thread that watches a rules file. Its lines name the file, which belongs to one test.
const WATCHER: &str = "tollgate-rules";

thread_local! {
    /// The lines of this thread since [`listen`]. A test that listens runs on one thread, so these lines are its own.
    static LINES: RefCell<Option<Vec<Line>>> = const { RefCell::new(None) };
}

static BY_WATCHERS: Mutex<Vec<Line>> = Mutex::new(Vec::new());

static LOG: LazyLock<()> = LazyLock::new(|| tracing::subscriber::set_global_default(Log).unwrap());

/// The fields of a line or a span, by name.
#[derive(Clone, Default)]
pub struct Fields(pub BTreeMap<&'static str, String>);

/// A log line; its message is among its fields.
pub struct Line {
    pub level: Level,
    fields: Fields,
}

impl Line {
    /// The field's value, or an empty string.
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
        let line = || {
            let (level, mut fields) = (*event.metadata().level(), Fields::default());
            event.record(&mut fields);
            Line { level, fields }
        };
        if thread::current().name() == Some(WATCHER) {
            by_watchers(|lines| lines.push(line()));
        }
        LINES.with_borrow_mut(|lines| {
            if let Some(lines) = lines {
                lines.push(line());
            }
        });
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// Begins to capture the lines of this thread.
pub fn listen() {
    LazyLock::force(&LOG);
    // A callsite that another thread reached while the subscriber was being installed would stay disabled otherwise.
    tracing::callsite::rebuild_interest_cache();
    LINES.with_borrow_mut(|lines| _ = lines.get_or_insert_default());
}

/// Removes and returns the matching lines of this thread and of the watcher threads.
pub fn take(matches: impl Fn(&Line) -> bool) -> Vec<Line> {
    let mut taken = by_watchers(|lines| lines.extract_if(.., |line| matches(line)).collect::<Vec<_>>());
    LINES.with_borrow_mut(|lines| {
        let lines = lines.as_mut().expect("this thread does not listen");
        taken.extend(lines.extract_if(.., |line| matches(line)));
    });
    taken
}

fn by_watchers<T>(look: impl FnOnce(&mut Vec<Line>) -> T) -> T {
    look(&mut BY_WATCHERS.lock().unwrap_or_else(PoisonError::into_inner))
}
