//! Proptest strategies: random limits and random traffic.

use std::time::Duration;

use proptest::{prelude::*, sample::select};
use tollgate::{
    Algorithm, AnyAlgorithm, FixedWindow, LeakyBucket, MAX_TIMESTAMP, Micros, Quota, SlidingCounter, SlidingLog, State,
    TokenBucket,
};

/// Any algorithm with any parameters: small limits that are exhausted quickly, and extreme ones.
pub fn any_algorithm() -> impl Strategy<Value = AnyAlgorithm> {
    any_of((0..KINDS.len()).prop_map(|index| KINDS[index]))
}

/// Any leaky bucket that queues.
pub fn any_queue() -> impl Strategy<Value = AnyAlgorithm> {
    any_of(Just(Kind::Queue))
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    TokenBucket,
    Policing,
    Queue,
    FixedWindow,
    AnchoredWindow,
    SlidingLog,
    SlidingCounter,
}

/// Saved seeds draw an index into this list.
const KINDS: [Kind; 7] = [
    Kind::TokenBucket,
    Kind::Policing,
    Kind::Queue,
    Kind::FixedWindow,
    Kind::AnchoredWindow,
    Kind::SlidingLog,
    Kind::SlidingCounter,
];

fn any_of(kinds: impl Strategy<Value = Kind>) -> impl Strategy<Value = AnyAlgorithm> {
    let limit = prop_oneof![
        6 => 1..12_u32,
        1 => 1..2000_u32,
        1 => 1..=u32::MAX,
        1 => select(vec![65_536, 1 << 31, u32::MAX - 1, u32::MAX]),
    ];
    let window = prop_oneof![
        1 => 1..50_u64,
        4 => 1..2_000_000_u64,
        2 => select(vec![1_000_000, 60_000_000, 86_400_000_000]),
        2 => 1..=315_360_000_000_000_u64,
        1 => select(vec![(1 << 48) - 1, 1 << 48, 315_359_999_999_999, 315_360_000_000_000]),
    ];
    let capacity = prop_oneof![4 => 1..30_u32, 1 => 1..10_000_000_u32, 1 => 1..=u32::MAX];
    let sub_windows = prop_oneof![2 => Just(1), 1 => 2..=8_u32, 1 => select(vec![60, 64])];
    let max_wait = prop_oneof![2 => Just(None), 1 => (0..150_u64).prop_map(Some)];
    (kinds, limit, window, capacity, sub_windows, max_wait).prop_filter_map(
        "a combination that is out of bounds",
        |(kind, limit, window, capacity, sub_windows, max_wait)| {
            let max_wait = max_wait.map(|percent| window.saturating_mul(percent) / 100);
            build(kind, limit, window, capacity, sub_windows, max_wait)
        },
    )
}

fn build(
    kind: Kind,
    limit: u32,
    window: Micros,
    capacity: u32,
    sub_windows: u32,
    max_wait: Option<u64>,
) -> Option<AnyAlgorithm> {
    // A log stores an entry per unit: a full log of the largest size would take most of a test's time.
    let limit = if kind == Kind::SlidingLog {
        limit % 3000 + 1
    } else {
        limit
    };
    let window = if kind == Kind::SlidingCounter {
        window.next_multiple_of(sub_windows.into())
    } else {
        window
    };
    let quota = Quota::try_new(limit, Duration::from_micros(window)).ok()?;
    // Half of the buckets have the quota's limit as their capacity, the others the drawn capacity.
    let capacity = if capacity.is_multiple_of(2) { limit } else { capacity };
    let leaky = || LeakyBucket::try_with_capacity(quota, capacity).ok();
    Some(match kind {
        Kind::TokenBucket => TokenBucket::try_with_capacity(quota, capacity).ok()?.to_any(),
        Kind::Policing => leaky()?.policing().to_any(),
        Kind::Queue => match max_wait {
            Some(max_wait) => leaky()?.try_max_wait(Duration::from_micros(max_wait)).ok()?.to_any(),
            None => leaky()?.to_any(),
        },
        Kind::FixedWindow => FixedWindow::new(quota).to_any(),
        Kind::AnchoredWindow => FixedWindow::new(quota).anchored().to_any(),
        Kind::SlidingLog => SlidingLog::try_new(quota).ok()?.to_any(),
        Kind::SlidingCounter => SlidingCounter::new(quota).try_sub_windows(sub_windows).ok()?.to_any(),
    })
}

/// How far time advances before a step, as a percentage of the window or in microseconds.
#[derive(Clone, Copy, Debug)]
pub enum Elapse {
    Percent(u64),
    Micros(u64),
}

impl Elapse {
    pub fn of(self, algorithm: &AnyAlgorithm) -> Micros {
        match self {
            Self::Percent(percent) => algorithm.quota().unwrap().window().as_micros() as Micros * percent / 100,
            Self::Micros(micros) => micros,
        }
    }

    /// The time this much after `now`, at most the largest timestamp of the stores.
    pub fn after(self, now: Micros, algorithm: &AnyAlgorithm) -> Micros {
        (now + self.of(algorithm)).min(MAX_TIMESTAMP)
    }
}

pub fn any_elapse() -> impl Strategy<Value = Elapse> {
    prop_oneof![
        4 => Just(Elapse::Micros(0)),
        2 => (0..4_u64).prop_map(Elapse::Micros),
        6 => (0..60_u64).prop_map(Elapse::Percent),
        2 => (60..260_u64).prop_map(Elapse::Percent),
    ]
}

/// A cost in units, or as a percentage of the capacity, which may exceed 100.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    Units(u32),
    Percent(u64),
}

impl Size {
    pub fn of(self, algorithm: &AnyAlgorithm) -> u32 {
        match self {
            Self::Units(units) => units,
            Self::Percent(percent) => (u64::from(algorithm.capacity()) * percent / 100).min(u32::MAX.into()) as u32,
        }
    }
}

pub fn any_size() -> impl Strategy<Value = Size> {
    prop_oneof![
        1 => Just(Size::Units(0)),
        6 => Just(Size::Units(1)),
        2 => (2..5_u32).prop_map(Size::Units),
        4 => (0..105_u64).prop_map(Size::Percent),
        1 => (100..400_u64).prop_map(Size::Percent),
        1 => Just(Size::Units(u32::MAX)),
    ]
}

/// The latest time that a state has recorded; an earlier `now` is clamped to it.
pub fn clamp(algorithm: &AnyAlgorithm, state: &State) -> Micros {
    let text = state.to_string();
    let field = |n: usize| text.split(' ').nth(n).unwrap().parse::<Micros>().unwrap();
    match (state, algorithm) {
        (State::Fresh, _) => 0,
        (State::Bucket(_), _) => field(2),
        (State::SlidingLog(_), _) => text.rsplit(' ').next().unwrap().parse().unwrap(),
        (State::SlidingCounter(_), AnyAlgorithm::SlidingCounter(_)) => field(0) * width(algorithm),
        _ => field(0),
    }
}

/// The length of a counter's sub-window, derived from the expiry of a state charged at time 0.
fn width(algorithm: &AnyAlgorithm) -> Micros {
    let mut state = State::Fresh;
    algorithm.commit(&mut state, 0, 1);
    let expires_at = algorithm.expires_at(&state);
    expires_at - algorithm.quota().unwrap().window().as_micros() as Micros
}
