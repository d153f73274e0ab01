//! What is counted while requests come: in all, by limit, by key and by minute.

use std::collections::{BTreeMap, HashMap};

use foldhash::quality::RandomState;
use tollgate::{Decision, Key, KeyError, Limit, Micros, Tier};

use super::count::Count;

/// In microseconds.
pub(super) const MINUTE: Micros = 60_000_000;

#[derive(Default)]
pub(crate) struct Report {
    /// The earliest and the latest.
    pub(super) span: Option<(Micros, Micros)>,
    pub(super) all: Count,
    /// Those that no limit has anything to do with.
    pub(super) unlimited: u64,
    /// Those that passed only because a shadow refuses nobody.
    pub(super) shadow_refusals: u64,
    /// Those that passed after a wait, and the longest.
    pub(super) held: u64,
    pub(super) longest: Micros,
    /// By what they lack.
    pub(super) keyless: BTreeMap<String, u64>,
    pub(super) unreadable: u64,
    pub(super) first_unreadable: Option<(u64, &'static str)>,
    pub(super) limits: Vec<ByLimit>,
    pub(super) minutes: HashMap<Micros, Count, RandomState>,
}

pub(super) struct ByLimit {
    pub(super) name: String,
    pub(super) is_shadow: bool,
    pub(super) count: Count,
    pub(super) keys: HashMap<Key, Count, RandomState>,
}

impl Report {
    /// On limits in this order.
    pub(crate) fn of(limits: &[Limit]) -> Self {
        let by_limit = |limit: &Limit| ByLimit {
            name: limit.name().to_owned(),
            is_shadow: false,
            count: Count::default(),
            keys: HashMap::default(),
        };
        Self {
            limits: limits.iter().map(by_limit).collect(),
            ..Self::default()
        }
    }

    /// A line that tells of no request, and what it lacks.
    pub(crate) fn unreadable(&mut self, line: u64, lacks: &'static str) {
        self.unreadable += 1;
        self.first_unreadable.get_or_insert((line, lacks));
    }

    /// A request that nobody can be charged for.
    pub(crate) fn keyless(&mut self, at: Micros, error: &KeyError) {
        self.came(at, false);
        *self.keyless.entry(error.to_string()).or_default() += 1;
    }

    pub(crate) fn decided(&mut self, at: Micros, decision: &Decision) {
        let is_admitted = decision.admits();
        self.came(at, !is_admitted);
        self.unlimited += u64::from(decision.tiers().is_empty());
        let delay = decision.delay().as_micros() as Micros;
        self.held += u64::from(delay > 0);
        self.longest = self.longest.max(delay);
        let mut tiers = decision.tiers().iter();
        self.shadow_refusals += u64::from(is_admitted && tiers.any(refuses));
        for tier in decision.tiers() {
            let mut limits = self.limits.iter_mut();
            if let Some(limit) = limits.find(|limit| limit.name == tier.limit().name()) {
                limit.add(tier);
            }
        }
    }

    fn came(&mut self, at: Micros, is_refused: bool) {
        let (earliest, latest) = self.span.get_or_insert((at, at));
        (*earliest, *latest) = ((*earliest).min(at), (*latest).max(at));
        self.all.add(is_refused);
        self.minutes.entry(at / MINUTE).or_default().add(is_refused);
    }
}

impl ByLimit {
    fn add(&mut self, tier: &Tier) {
        let is_refused = refuses(tier);
        self.is_shadow |= tier.is_shadow();
        self.count.add(is_refused);
        match self.keys.get_mut(tier.key()) {
            Some(count) => count.add(is_refused),
            None => self.keys.entry(tier.key().clone()).or_default().add(is_refused),
        }
    }
}

fn refuses(tier: &Tier) -> bool {
    !tier.verdict().outcome().admits()
}
