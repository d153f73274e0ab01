//! Random traces: several tiers, and what happens to them.

use proptest::{collection::vec, prelude::*};
use tollgate::{Algorithm, FixedWindow, LeakyBucket, Limit, Quota, Rule, SlidingCounter, SlidingLog, TokenBucket};

use support::traces::{Elapse, Size, any_elapse, any_rule, any_size};

/// A rule, and other versions of it that may be put in force while it is used.
#[derive(Clone, Debug)]
pub(crate) struct Tier {
    pub(crate) versions: Vec<Rule>,
    pub(crate) shadow: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Which tiers, and what each is charged.
    Acquire(Vec<(bool, Size)>),
    /// One of the receipts so far, under the latest version of its limits or under the one it was charged by.
    Refund(usize, bool),
    /// The same, to a true cost for every tier and another one for the first.
    Settle(usize, [Size; 2], bool),
    /// Another version of every tier.
    Change(usize),
    Reset(usize),
    /// The clock steps back.
    Back(Elapse),
}

pub(crate) type Steps = Vec<(Elapse, Action)>;

pub(crate) fn any_trace() -> impl Strategy<Value = (Vec<Tier>, Steps)> {
    (vec(any_tier(), 1..5), vec((any_elapse(), any_action()), 1..24))
}

fn any_tier() -> impl Strategy<Value = Tier> {
    let versions = any_rule().prop_flat_map(|rule| {
        let amount = || prop_oneof![3 => 1..40_u32, 1 => 1..=u32::MAX];
        let version = (amount(), amount()).prop_map(move |(limit, capacity)| version(&rule, limit, capacity));
        (Just(rule), vec(version, 2))
    });
    (versions, prop::bool::weighted(0.15)).prop_map(|((rule, others), shadow)| Tier {
        versions: [rule].into_iter().chain(others.into_iter().flatten()).collect(),
        shadow,
    })
}

/// Another version of a rule: it differs in what it allows, not in shape, since another shape is another key.
fn version(rule: &Rule, limit: u32, capacity: u32) -> Option<Rule> {
    let quota = Quota::new(limit, rule.quota().window());
    let shape = Limit::new("x", *rule).to_string();
    let last = shape.rsplit(':').next().unwrap();
    Some(match rule {
        Rule::TokenBucket(_) => TokenBucket::try_with_capacity(quota, capacity).ok()?.rule(),
        Rule::LeakyBucket(_) => LeakyBucket::try_with_capacity(quota, capacity).ok()?.rule(),
        Rule::FixedWindow(_) if last == "anchored" => FixedWindow::new(quota).anchored().rule(),
        Rule::FixedWindow(_) => FixedWindow::new(quota).rule(),
        Rule::SlidingLog(_) => SlidingLog::new(Quota::new(limit % 3000 + 1, quota.window())).rule(),
        Rule::SlidingCounter(_) => SlidingCounter::new(quota).buckets(last.parse().unwrap()).rule(),
        _ => unreachable!("there are five"),
    })
}

fn any_action() -> impl Strategy<Value = Action> {
    let which = any::<usize>;
    prop_oneof![
        12 => vec((prop::bool::weighted(0.8), any_size()), 4).prop_map(Action::Acquire),
        3 => (which(), any::<bool>()).prop_map(|(which, latest)| Action::Refund(which, latest)),
        3 => (which(), [any_size(), any_size()], any::<bool>())
            .prop_map(|(which, to, latest)| Action::Settle(which, to, latest)),
        2 => (0..3_usize).prop_map(Action::Change),
        1 => (0..4_usize).prop_map(Action::Reset),
        2 => any_elapse().prop_map(Action::Back),
    ]
}
