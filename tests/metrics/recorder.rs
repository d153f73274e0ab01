//! A recorder of this thread. Each test has its own thread, on which the tasks that it spawns run too.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, LocalRecorderGuard, Metadata, Recorder,
    SharedString, Unit,
};

/// A recorder that is installed for the duration of a test.
pub(crate) struct TestRecorder {
    registry: &'static Registry,
    _guard: LocalRecorderGuard<'static>,
}

/// Samples of a metric by its labels in alphabetical order: `limit=user outcome=limited`.
pub(crate) type Samples<T> = BTreeMap<String, T>;

#[derive(Default)]
struct Registry {
    series: Mutex<BTreeMap<String, Series>>,
    described: Mutex<BTreeMap<String, (&'static str, Option<Unit>)>>,
}

/// All samples of one metric.
#[derive(Clone)]
struct Series {
    kind: &'static str,
    samples: Samples<Arc<Sample>>,
}

/// The value of a counter or gauge, or all values of a histogram.
#[derive(Default)]
pub(crate) struct Sample(Mutex<Vec<f64>>);

/// A metric, as in a list of metrics.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MetricInfo {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) unit: String,
    pub(crate) labels: Vec<String>,
}

impl TestRecorder {
    pub(crate) fn start() -> Self {
        // Leaked, so that the guard does not borrow from a field of the same struct.
        let registry = Box::leak(Box::<Registry>::default());
        Self {
            registry,
            _guard: metrics::set_default_local_recorder(registry),
        }
    }

    /// All values of each sample.
    pub(crate) fn values(&self, name: &str) -> Samples<Vec<f64>> {
        let series = self.registry.series.lock().unwrap();
        let samples = series.get(name).into_iter().flat_map(|series| &series.samples);
        let values = samples.map(|(labels, sample)| (labels.clone(), sample.0.lock().unwrap().clone()));
        values.collect()
    }

    /// The latest value of each sample, without zeros.
    pub(crate) fn counted(&self, name: &str) -> Samples<f64> {
        let mut counted = self.levels(name);
        counted.retain(|_, value| *value != 0.0);
        counted
    }

    /// The latest value of each sample, including zeros.
    pub(crate) fn levels(&self, name: &str) -> Samples<f64> {
        let values = self.values(name).into_iter();
        values
            .map(|(labels, values)| (labels, *values.last().unwrap()))
            .collect()
    }

    /// Every metric that has samples.
    pub(crate) fn list(&self) -> Vec<MetricInfo> {
        let (series, described) = (
            self.registry.series.lock().unwrap(),
            self.registry.described.lock().unwrap(),
        );
        let listed = series.iter().map(|(name, Series { kind, samples })| {
            let (described_as, unit) = described[name];
            assert_eq!(described_as, *kind, "{name}");
            let labels: Vec<_> = samples.keys().map(|sample| labels(sample)).collect();
            assert!(labels.iter().all(|others| *others == labels[0]), "{name}: {labels:?}");
            MetricInfo {
                name: name.clone(),
                kind: (*kind).to_owned(),
                unit: unit.unwrap().as_str().to_owned(),
                labels: labels[0].iter().map(|label| (*label).to_owned()).collect(),
            }
        });
        listed.collect()
    }

    /// The values that a label had.
    pub(crate) fn label_values(&self, name: &str, label: &str) -> Vec<String> {
        let samples = self.counted(name);
        let labels = samples.keys().flat_map(|sample| sample.split(' '));
        let label_values = labels.filter_map(|pair| pair.strip_prefix(label)?.strip_prefix('='));
        let mut label_values: Vec<String> = label_values.map(str::to_owned).collect();
        label_values.sort();
        label_values.dedup();
        label_values
    }
}

fn labels(sample: &str) -> Vec<&str> {
    sample
        .split_terminator(' ')
        .map(|label| label.split_once('=').unwrap().0)
        .collect()
}

/// The expected samples.
pub(crate) fn samples<const N: usize>(expected: [(&str, u32); N]) -> Samples<f64> {
    let samples = expected.into_iter();
    samples
        .map(|(labels, count)| (labels.to_owned(), f64::from(count)))
        .collect()
}

impl Registry {
    fn describe(&self, name: &KeyName, kind: &'static str, unit: Option<Unit>) {
        let mut described = self.described.lock().unwrap();
        described.insert(name.as_str().to_owned(), (kind, unit));
    }

    fn sample(&self, key: &Key, kind: &'static str) -> Arc<Sample> {
        let mut series = self.series.lock().unwrap();
        let samples = BTreeMap::new();
        let series = series.entry(key.name().to_owned()).or_insert(Series { kind, samples });
        assert_eq!(series.kind, kind, "{}", key.name());
        let mut labels: Vec<_> = key
            .labels()
            .map(|label| format!("{}={}", label.key(), label.value()))
            .collect();
        labels.sort();
        Arc::clone(series.samples.entry(labels.join(" ")).or_default())
    }
}

impl Recorder for Registry {
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
        Counter::from_arc(self.sample(key, "counter"))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.sample(key, "gauge"))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(self.sample(key, "histogram"))
    }
}

impl CounterFn for Sample {
    fn increment(&self, by: u64) {
        let mut values = self.0.lock().unwrap();
        let count = values.pop().unwrap_or_default();
        values.push(count + by as f64);
    }

    fn absolute(&self, _: u64) {
        panic!("counters are only incremented");
    }
}

impl GaugeFn for Sample {
    fn increment(&self, _: f64) {
        panic!("gauges are set, because a late recorder would miss increments");
    }

    fn decrement(&self, _: f64) {
        panic!("gauges are set, because a late recorder would miss increments");
    }

    fn set(&self, level: f64) {
        *self.0.lock().unwrap() = vec![level];
    }
}

impl HistogramFn for Sample {
    fn record(&self, value: f64) {
        self.0.lock().unwrap().push(value);
    }
}
