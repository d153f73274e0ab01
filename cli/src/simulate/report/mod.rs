//! The report about an access log: counts in total, by limit, by key and by minute.

mod render;
mod table;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use foldhash::quality::RandomState;
use tollgate::{Decision, Key, KeyError, Limit, Micros, TierDecision};

/// In microseconds.
const MINUTE: Micros = 60_000_000;

#[derive(Default)]
pub(crate) struct Report {
    /// The earliest and the latest time.
    span: Option<(Micros, Micros)>,
    total: Count,
    /// Requests that no limit applies to.
    unlimited: u64,
    /// Admitted requests that a shadow limit would have denied.
    shadow_denials: u64,
    /// Admitted requests that were delayed, and the maximum delay.
    delayed: u64,
    max_delay: Micros,
    /// Requests without a key, by error message.
    missing_keys: BTreeMap<String, u64>,
    unreadable: u64,
    first_unreadable: Option<(u64, &'static str)>,
    limits: Vec<LimitReport>,
    minutes: HashMap<Micros, Count, RandomState>,
}

struct LimitReport {
    name: String,
    is_shadow: bool,
    count: Count,
    keys: HashMap<Key, Count, RandomState>,
}

#[derive(Clone, Copy, Default)]
struct Count {
    requests: u64,
    denied: u64,
}

impl Report {
    /// An empty report about limits in this order.
    pub(crate) fn new(limits: &[Limit]) -> Self {
        let limit_report = |limit: &Limit| LimitReport {
            name: limit.name().to_owned(),
            is_shadow: false,
            count: Count::default(),
            keys: HashMap::default(),
        };
        Self {
            limits: limits.iter().map(limit_report).collect(),
            ..Self::default()
        }
    }

    /// Adds a line without a request, and what it lacks.
    pub(crate) fn add_unreadable(&mut self, line: u64, missing: &'static str) {
        self.unreadable += 1;
        self.first_unreadable.get_or_insert((line, missing));
    }

    /// Adds a request without the key that a limit counts by.
    pub(crate) fn add_missing_key(&mut self, at: Micros, error: &KeyError) {
        self.add_request(at, false);
        *self.missing_keys.entry(error.to_string()).or_default() += 1;
    }

    pub(crate) fn add_decision(&mut self, at: Micros, decision: &Decision) {
        let is_admitted = decision.admits();
        self.add_request(at, !is_admitted);
        self.unlimited += u64::from(decision.tiers().is_empty());
        let delay = decision.delay().as_micros() as Micros;
        self.delayed += u64::from(delay > 0);
        self.max_delay = self.max_delay.max(delay);
        let mut tiers = decision.tiers().iter();
        self.shadow_denials += u64::from(is_admitted && tiers.any(denies));
        for tier in decision.tiers() {
            let mut limits = self.limits.iter_mut();
            if let Some(limit) = limits.find(|limit| limit.name == tier.limit().name()) {
                limit.add(tier);
            }
        }
    }

    fn add_request(&mut self, at: Micros, is_denied: bool) {
        let (earliest, latest) = self.span.get_or_insert((at, at));
        (*earliest, *latest) = ((*earliest).min(at), (*latest).max(at));
        self.total.add(is_denied);
        self.minutes.entry(at / MINUTE).or_default().add(is_denied);
    }
}

impl LimitReport {
    fn add(&mut self, tier: &TierDecision) {
        let is_denied = denies(tier);
        self.is_shadow |= tier.is_shadow();
        self.count.add(is_denied);
        match self.keys.get_mut(tier.key()) {
            Some(count) => count.add(is_denied),
            None => self.keys.entry(tier.key().clone()).or_default().add(is_denied),
        }
    }
}

fn denies(tier: &TierDecision) -> bool {
    !tier.verdict().outcome().admits()
}

impl Count {
    fn add(&mut self, is_denied: bool) {
        self.requests += 1;
        self.denied += u64::from(is_denied);
    }

    /// The top `max` entries by denied requests, then by requests, then by name.
    fn top<K: Ord>(entries: impl Iterator<Item = (K, Self)>, max: usize) -> Vec<(K, Self)> {
        let mut entries: Vec<_> = entries.collect();
        entries.sort_unstable_by(|(name, a), (other, b)| {
            let rank = |count: &Self| Reverse((count.denied, count.requests));
            rank(a).cmp(&rank(b)).then_with(|| name.cmp(other))
        });
        entries.truncate(max);
        entries
    }
}
