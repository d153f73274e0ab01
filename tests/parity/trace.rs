//! Random traces: several tiers and a sequence of operations.

use proptest::{collection::vec, prelude::*};
use tollgate::{
    Algorithm, AnyAlgorithm, FixedWindow, LeakyBucket, Limit, Quota, SlidingCounter, SlidingLog, TokenBucket,
};

use support::strategies::{Elapse, Size, any_algorithm, any_elapse, any_size};

/// An algorithm, and other versions that may replace it while it is in use.
#[derive(Clone, Debug)]
pub(crate) struct Tier {
    pub(crate) versions: Vec<AnyAlgorithm>,
    pub(crate) shadow: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Whether each tier is charged, and its cost.
    Acquire(Vec<(bool, Size)>),
    /// Refunds an earlier receipt, with the latest version of its limits or with the version at the charge.
    Refund(usize, bool),
    /// Settles an earlier receipt to one cost for the first tier and another for the rest.
    Settle(usize, [Size; 2], bool),
    /// Switches every tier to another version.
    Change(usize),
    Reset(usize),
    /// Sets the clock back.
    Back(Elapse),
}

pub(crate) type Steps = Vec<(Elapse, Action)>;

pub(crate) fn any_trace() -> impl Strategy<Value = (Vec<Tier>, Steps)> {
    (vec(any_tier(), 1..5), vec((any_elapse(), any_action()), 1..24))
}

fn any_tier() -> impl Strategy<Value = Tier> {
    let versions = any_algorithm().prop_flat_map(|algorithm| {
        let amount = || prop_oneof![3 => 1..40_u32, 1 => 1..=u32::MAX];
        let version = (amount(), amount()).prop_map(move |(limit, capacity)| version(&algorithm, limit, capacity));
        (Just(algorithm), vec(version, 2))
    });
    (versions, prop::bool::weighted(0.15)).prop_map(|((algorithm, others), shadow)| Tier {
        versions: [algorithm].into_iter().chain(others.into_iter().flatten()).collect(),
        shadow,
    })
}

/// Another version of an algorithm: another limit and capacity, but the same parameters in its key.
fn version(algorithm: &AnyAlgorithm, limit: u32, capacity: u32) -> Option<AnyAlgorithm> {
    let quota = Quota::new(limit, algorithm.quota().unwrap().window());
    let shape = Limit::new("x", *algorithm).to_string();
    let last = shape.rsplit(':').next().unwrap();
    Some(match algorithm {
        AnyAlgorithm::TokenBucket(_) => TokenBucket::try_with_capacity(quota, capacity).ok()?.to_any(),
        AnyAlgorithm::LeakyBucket(_) => LeakyBucket::try_with_capacity(quota, capacity).ok()?.to_any(),
        AnyAlgorithm::FixedWindow(_) if last == "anchored" => FixedWindow::new(quota).anchored().to_any(),
        AnyAlgorithm::FixedWindow(_) => FixedWindow::new(quota).to_any(),
        AnyAlgorithm::SlidingLog(_) => SlidingLog::new(Quota::new(limit % 3000 + 1, quota.window())).to_any(),
        AnyAlgorithm::SlidingCounter(_) => SlidingCounter::new(quota).sub_windows(last.parse().unwrap()).to_any(),
        _ => unreachable!("the strategies draw no other algorithm"),
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
