//! The spans of the whole process, and when each was entered. A test looks for those of its own limits.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    sync::{
        LazyLock, Mutex,
        atomic::{AtomicU64, Ordering},
    },
};

use tracing::{Event, Level, Metadata, Subscriber, span};

use support::log::Fields;

static SPANS: Mutex<BTreeMap<u64, Span>> = Mutex::new(BTreeMap::new());

static LISTENING: LazyLock<()> = LazyLock::new(|| tracing::subscriber::set_global_default(Listener).unwrap());

thread_local! {
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

#[derive(Clone)]
pub(crate) struct Span {
    pub(crate) name: &'static str,
    pub(crate) level: Level,
    pub(crate) target: &'static str,
    /// All that may be said of it.
    pub(crate) declared: Vec<&'static str>,
    pub(crate) fields: Fields,
    /// How often it was entered.
    pub(crate) entered: usize,
    /// How many hold it.
    holders: usize,
}

impl Span {
    pub(crate) fn is_open(&self) -> bool {
        self.holders > 0
    }

    /// All that has been said of it, by the order of the alphabet.
    pub(crate) fn said(&self) -> Vec<(&str, &str)> {
        self.fields.0.iter().map(|(name, value)| (*name, &**value)).collect()
    }
}

struct Listener;

fn change(id: &span::Id, change: impl FnOnce(&mut Span)) {
    change(SPANS.lock().unwrap().get_mut(&id.into_u64()).unwrap());
}

impl Subscriber for Listener {
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
            holders: 1,
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

    fn clone_span(&self, id: &span::Id) -> span::Id {
        change(id, |span| span.holders += 1);
        id.clone()
    }

    fn try_close(&self, id: span::Id) -> bool {
        let mut is_closed = false;
        change(&id, |span| {
            span.holders -= 1;
            is_closed = span.holders == 0;
        });
        is_closed
    }

    fn event(&self, _: &Event<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
}

/// Begins to write down what there is.
pub(crate) fn listen() {
    LazyLock::force(&LISTENING);
    // A span that another thread came by while this was being installed would never be seen otherwise.
    tracing::callsite::rebuild_interest_cache();
}

/// Whether this thread is inside of a span of ours.
pub(crate) fn are_we_inside() -> bool {
    ENTERED.with_borrow(|entered| !entered.is_empty())
}

/// The spans of decisions by these limits, the oldest first.
pub(crate) fn of(limits: &str) -> Vec<Span> {
    let spans = SPANS.lock().unwrap();
    let ours = spans
        .values()
        .filter(|span| span.fields.0.get("limits").is_some_and(|said| said == limits));
    ours.cloned().collect()
}
