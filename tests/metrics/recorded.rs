//! What this thread has measured. A test has a thread of its own, and so have the tasks that it spawns.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, LocalRecorderGuard, Metadata, Recorder,
    SharedString, Unit,
};

/// A recorder for as long as a test takes.
pub(crate) struct Recorded {
    ledger: &'static Ledger,
    _guard: LocalRecorderGuard<'static>,
}

/// Figures under a name, by labels in the order of the alphabet: `limit=user outcome=limited`.
pub(crate) type Figures<T> = BTreeMap<String, T>;

#[derive(Default)]
struct Ledger {
    series: Mutex<BTreeMap<String, Series>>,
    described: Mutex<BTreeMap<String, (&'static str, Option<Unit>)>>,
}

/// All that is said under one name.
#[derive(Clone)]
struct Series {
    kind: &'static str,
    figures: Figures<Arc<Figure>>,
}

/// A count or a level, which is one value, or what a histogram has been told.
#[derive(Default)]
pub(crate) struct Figure(Mutex<Vec<f64>>);

/// A metric, as a list of them would have it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) unit: String,
    pub(crate) labels: Vec<String>,
}

impl Recorded {
    pub(crate) fn start() -> Self {
        // It stays for as long as the process: so the guard need not borrow from a neighbour.
        let ledger = Box::leak(Box::<Ledger>::default());
        Self {
            ledger,
            _guard: metrics::set_default_local_recorder(ledger),
        }
    }

    /// All values of each figure.
    pub(crate) fn values(&self, name: &str) -> Figures<Vec<f64>> {
        let series = self.ledger.series.lock().unwrap();
        let figures = series.get(name).into_iter().flat_map(|series| &series.figures);
        let values = figures.map(|(labels, figure)| (labels.clone(), figure.0.lock().unwrap().clone()));
        values.collect()
    }

    /// The one value of each figure, if there is something to tell.
    pub(crate) fn counted(&self, name: &str) -> Figures<f64> {
        let mut counted = self.levels(name);
        counted.retain(|_, value| *value != 0.0);
        counted
    }

    /// The one value of each figure, be it 0.
    pub(crate) fn levels(&self, name: &str) -> Figures<f64> {
        let values = self.values(name).into_iter();
        values
            .map(|(labels, values)| (labels, *values.last().unwrap()))
            .collect()
    }

    /// Everything that there are figures of.
    pub(crate) fn list(&self) -> Vec<Listed> {
        let (series, described) = (
            self.ledger.series.lock().unwrap(),
            self.ledger.described.lock().unwrap(),
        );
        let listed = series.iter().map(|(name, Series { kind, figures })| {
            let (described_as, unit) = described[name];
            assert_eq!(described_as, *kind, "{name}");
            let labels: Vec<_> = figures.keys().map(|figure| labels(figure)).collect();
            assert!(labels.iter().all(|others| *others == labels[0]), "{name}: {labels:?}");
            Listed {
                name: name.clone(),
                kind: (*kind).to_owned(),
                unit: unit.unwrap().as_str().to_owned(),
                labels: labels[0].iter().map(|label| (*label).to_owned()).collect(),
            }
        });
        listed.collect()
    }

    /// The words that a label has been.
    pub(crate) fn words(&self, name: &str, label: &str) -> Vec<String> {
        let figures = self.counted(name);
        let labels = figures.keys().flat_map(|figure| figure.split(' '));
        let words = labels.filter_map(|pair| pair.strip_prefix(label)?.strip_prefix('='));
        let mut words: Vec<String> = words.map(str::to_owned).collect();
        words.sort();
        words.dedup();
        words
    }
}

fn labels(figure: &str) -> Vec<&str> {
    figure
        .split_terminator(' ')
        .map(|label| label.split_once('=').unwrap().0)
        .collect()
}

/// Figures as they are expected.
pub(crate) fn figures<const N: usize>(expected: [(&str, u32); N]) -> Figures<f64> {
    let figures = expected.into_iter();
    figures
        .map(|(labels, count)| (labels.to_owned(), f64::from(count)))
        .collect()
}

impl Ledger {
    fn describe(&self, name: &KeyName, kind: &'static str, unit: Option<Unit>) {
        let mut described = self.described.lock().unwrap();
        described.insert(name.as_str().to_owned(), (kind, unit));
    }

    fn figure(&self, key: &Key, kind: &'static str) -> Arc<Figure> {
        let mut series = self.series.lock().unwrap();
        let figures = BTreeMap::new();
        let series = series.entry(key.name().to_owned()).or_insert(Series { kind, figures });
        assert_eq!(series.kind, kind, "{}", key.name());
        let mut labels: Vec<_> = key
            .labels()
            .map(|label| format!("{}={}", label.key(), label.value()))
            .collect();
        labels.sort();
        Arc::clone(series.figures.entry(labels.join(" ")).or_default())
    }
}

impl Recorder for Ledger {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&name, "counter", unit);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&name, "gauge", unit);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, _: SharedString) {
        self.describe(&name, "histogram", unit);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.figure(key, "counter"))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.figure(key, "gauge"))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.figure(key, "histogram"))
    }
}

impl CounterFn for Figure {
    fn increment(&self, by: u64) {
        let mut values = self.0.lock().unwrap();
        let count = values.pop().unwrap_or_default();
        values.push(count + by as f64);
    }

    fn absolute(&self, _: u64) {
        panic!("nothing is counted by its total");
    }
}

impl GaugeFn for Figure {
    fn increment(&self, _: f64) {
        panic!("a recorder that comes late would have missed the first");
    }

    fn decrement(&self, _: f64) {
        panic!("a recorder that comes late would have missed the first");
    }

    fn set(&self, level: f64) {
        *self.0.lock().unwrap() = vec![level];
    }
}

impl HistogramFn for Figure {
    fn record(&self, value: f64) {
        self.0.lock().unwrap().push(value);
    }
}
