//! What the store has said in the log, Redis by Redis.

use std::{
    fmt,
    sync::{LazyLock, Mutex},
};

use tracing::{Event, Metadata, Subscriber, field, span};

use crate::support::redis::RedisServer;

/// Everything that was logged in the whole process.
static LINES: Mutex<Vec<Line>> = Mutex::new(Vec::new());

/// Writes lines down from when it is first looked at.
static LOG: LazyLock<()> = LazyLock::new(|| tracing::subscriber::set_global_default(Log).unwrap());

#[derive(Default)]
struct Line {
    level: String,
    message: String,
    address: String,
}

impl field::Visit for Line {
    fn record_debug(&mut self, field: &field::Field, value: &dyn fmt::Debug) {
        match field.name() {
            "message" => self.message = format!("{value:?}"),
            "address" => self.address = format!("{value:?}"),
            _ => {}
        }
    }
}

struct Log;

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tollgate")
    }

    fn event(&self, event: &Event<'_>) {
        let level = event.metadata().level().to_string();
        let mut line = Line {
            level,
            ..Line::default()
        };
        event.record(&mut line);
        LINES.lock().unwrap().push(line);
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
pub(crate) fn listen() {
    LazyLock::force(&LOG);
}

/// What was said of this Redis since the last look: how loudly, and how it begins.
pub(crate) fn of(server: &RedisServer) -> Vec<String> {
    let address = format!("127.0.0.1:{}", server.port());
    let mut lines = LINES.lock().unwrap();
    let ours = lines.extract_if(.., |line| line.address == address);
    let begins = |message: &str| message.split([',', ';']).next().unwrap().to_owned();
    ours.map(|line| format!("{}: {}", line.level, begins(&line.message)))
        .collect()
}
