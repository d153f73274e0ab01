//! The spans of the whole process, and how often each was entered. A test looks for the spans of its own limits.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    sync::{
        LazyLock, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use tracing::{Event, Level, Metadata, Subscriber, span};
use tracing_core::span::Current;

use support::log::Fields;

static SPANS: Mutex<BTreeMap<u64, Span>> = Mutex::new(BTreeMap::new());

static INSTALLED: LazyLock<()> = LazyLock::new(|| tracing::subscriber::set_global_default(SpanRecorder).unwrap());

thread_local! {
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

#[derive(Clone)]
pub(crate) struct Span {
    pub(crate) name: &'static str,
    pub(crate) level: Level,
    pub(crate) target: &'static str,
    /// The declared fields.
    pub(crate) declared: Vec<&'static str>,
    pub(crate) fields: Fields,
    /// How often it was entered.
    pub(crate) entered: usize,
    /// The number of handles.
    handles: usize,
    metadata: &'static Metadata<'static>,
}

impl Span {
    pub(crate) fn is_open(&self) -> bool {
        self.handles > 0
    }

    /// The recorded fields, by name.
    pub(crate) fn recorded(&self) -> Vec<(&str, &str)> {
        self.fields.0.iter().map(|(name, value)| (*name, &**value)).collect()
    }
}

struct SpanRecorder;

fn change(id: &span::Id, change: impl FnOnce(&mut Span)) {
    change(SPANS.lock().unwrap().get_mut(&id.into_u64()).unwrap());
}

impl Subscriber for SpanRecorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("tollgate")
    }

    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let (id, metadata) = (NEXT.fetch_add(1, Ordering::Relaxed), attributes.metadata());
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let span = Span {
            name: metadata.name(),
            level: *metadata.level(),
            target: metadata.target(),
            declared: metadata.fields().iter().map(|field| field.name()).collect(),
            fields,
            entered: 0,
            handles: 1,
            metadata,
        };
        SPANS.lock().unwrap().insert(id, span);
        span::Id::from_u64(id)
    }

    fn record(&self, id: &span::Id, values: &span::Record<'_>) {
        change(id, |span| values.record(&mut span.fields));
    }

    fn enter(&self, id: &span::Id) {
        change(id, |span| span.entered += 1);
        ENTERED.with_borrow_mut(|entered| entered.push(id.into_u64()));
    }

    fn exit(&self, id: &span::Id) {
        let left = ENTERED.with_borrow_mut(Vec::pop);
        assert_eq!(left, Some(id.into_u64()));
    }

    fn current_span(&self) -> Current {
        let entered = ENTERED.with_borrow(|entered| entered.last().copied());
        entered.map_or_else(Current::none, |id| {
            let metadata = SPANS.lock().unwrap()[&id].metadata;
            Current::new(span::Id::from_u64(id), metadata)
        })
    }

    fn clone_span(&self, id: &span::Id) -> span::Id {
        change(id, |span| span.handles += 1);
        id.clone()
    }

    fn try_close(&self, id: span::Id) -> bool {
        let mut is_closed = false;
        change(&id, |span| {
            span.handles -= 1;
            is_closed = span.handles == 0;
        });
        is_closed
    }

    fn event(&self, _: &Event<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
}

/// Installs the recorder.
pub(crate) fn listen() {
    LazyLock::force(&INSTALLED);
    // Otherwise a callsite that another thread registered during the installation would be ignored.
    tracing::callsite::rebuild_interest_cache();
}

/// Whether this thread is inside of a tollgate span.
pub(crate) fn is_inside_span() -> bool {
    ENTERED.with_borrow(|entered| !entered.is_empty())
}

/// The decision spans of these limits, the oldest first.
pub(crate) fn of(limits: &str) -> Vec<Span> {
    let spans = SPANS.lock().unwrap();
    let ours = spans
        .values()
        .filter(|span| span.fields.0.get("limits").is_some_and(|recorded| recorded == limits));
    ours.cloned().collect()
}
