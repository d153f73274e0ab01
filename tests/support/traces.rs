//! Random limits and random traffic for the property tests.

use std::{ops::Range, time::Duration};

use proptest::{prelude::*, sample::select};
use tollgate::{
    Algorithm, END_OF_TIME, FixedWindow, LeakyBucket, Micros, Quota, Rule, SlidingCounter, SlidingLog, State,
    TokenBucket,
};

/// Any rule of any algorithm: small ones that fill up quickly, and extreme ones.
pub fn any_rule() -> impl Strategy<Value = Rule> {
    any_of(0..7)
}

/// Any leaky bucket that queues.
pub fn any_queue() -> impl Strategy<Value = Rule> {
    any_of(QUEUE..QUEUE + 1)
}

/// What [`build`] calls a leaky bucket that queues.
const QUEUE: usize = 2;

fn any_of(kinds: Range<usize>) -> impl Strategy<Value = Rule> {
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
    let buckets = prop_oneof![2 => Just(1), 1 => 2..=8_u32, 1 => select(vec![60, 64])];
    let max_wait = prop_oneof![2 => Just(None), 1 => (0..150_u64).prop_map(Some)];
    (kinds, limit, window, capacity, buckets, max_wait).prop_filter_map(
        "a combination that is out of bounds",
        |(kind, limit, window, capacity, buckets, max_wait)| {
            let max_wait = max_wait.map(|percent| window.saturating_mul(percent) / 100);
            build(kind, limit, window, capacity, buckets, max_wait)
        },
    )
}

fn build(kind: usize, limit: u32, window: Micros, capacity: u32, buckets: u32, max_wait: Option<u64>) -> Option<Rule> {
    // A log keeps an entry for each: a full one of the largest size would take most of a test's time.
    let limit = if kind == 5 { limit % 3000 + 1 } else { limit };
    let window = if kind == 6 {
        window.next_multiple_of(buckets.into())
    } else {
        window
    };
    let quota = Quota::try_new(limit, Duration::from_micros(window)).ok()?;
    // Half of the buckets hold as much as one quota, the others as much as they were drawn.
    let capacity = if capacity.is_multiple_of(2) { limit } else { capacity };
    let leaky = || LeakyBucket::try_with_capacity(quota, capacity).ok();
    Some(match kind {
        0 => TokenBucket::try_with_capacity(quota, capacity).ok()?.rule(),
        1 => leaky()?.policing().rule(),
        QUEUE => match max_wait {
            Some(max_wait) => leaky()?.try_max_wait(Duration::from_micros(max_wait)).ok()?.rule(),
            None => leaky()?.rule(),
        },
        3 => FixedWindow::new(quota).rule(),
        4 => FixedWindow::new(quota).anchored().rule(),
        5 => SlidingLog::try_new(quota).ok()?.rule(),
        _ => SlidingCounter::new(quota).try_buckets(buckets).ok()?.rule(),
    })
}

/// How far time moves before a step, as a share of a rule's window or in microseconds.
#[derive(Clone, Copy, Debug)]
pub enum Elapse {
    Percent(u64),
    Micros(u64),
}

impl Elapse {
    pub fn of(self, rule: &Rule) -> Micros {
        match self {
            Self::Percent(percent) => rule.quota().window().as_micros() as Micros * percent / 100,
            Self::Micros(micros) => micros,
        }
    }

    /// The time this much after `now`, within what the stores tell apart.
    pub fn after(self, now: Micros, rule: &Rule) -> Micros {
        (now + self.of(rule)).min(END_OF_TIME)
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

/// A cost as a share of what a rule holds at the most, a little beyond included.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    Units(u32),
    Percent(u64),
}

impl Size {
    pub fn of(self, rule: &Rule) -> u32 {
        match self {
            Self::Units(units) => units,
            Self::Percent(percent) => (u64::from(rule.capacity()) * percent / 100).min(u32::MAX.into()) as u32,
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

/// The latest time a state has seen, which an earlier `now` is taken for.
pub fn clamp(rule: &Rule, state: &State) -> Micros {
    let text = state.to_string();
    let field = |n: usize| text.split(' ').nth(n).unwrap().parse::<Micros>().unwrap();
    match (state, rule) {
        (State::Fresh, _) => 0,
        (State::Bucket(_), _) => field(2),
        (State::SlidingLog(_), _) => text.rsplit(' ').next().unwrap().parse().unwrap(),
        (State::SlidingCounter(_), Rule::SlidingCounter(_)) => field(0) * width(rule),
        _ => field(0),
    }
}

/// How long a counter's sub-window is, by the expiry of a state that counted at time 0.
fn width(rule: &Rule) -> Micros {
    let mut state = State::Fresh;
    rule.commit(&mut state, 0, 1);
    let expires_at = rule.expires_at(&state);
    expires_at - rule.quota().window().as_micros() as Micros
}
