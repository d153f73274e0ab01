//! Limits and steps, as bytes say them: every input means something.

use std::time::Duration;

use tollgate::{
    Algorithm, Cost, END_OF_TIME, FixedWindow, LeakyBucket, Micros, Quota, Rule, SlidingCounter, SlidingLog,
    TokenBucket,
};

const RULE: usize = 8;
const STEP: usize = 4;

/// The most steps, so that none takes long.
const STEPS: usize = 64;

pub(super) struct Input<'i> {
    pub(super) rules: Vec<Rule>,
    pub(super) steps: &'i [[u8; STEP]],
}

impl<'i> Input<'i> {
    /// Nothing, if the limits are out of bounds.
    pub(super) fn read(input: &'i [u8]) -> Option<Self> {
        let (first, rest) = input.split_first_chunk::<RULE>()?;
        let (second, rest) = match rest.split_first_chunk::<RULE>() {
            // A byte of it says whether it is there.
            Some((second, after)) if first[0] >= 128 => (Some(second), after),
            _ => (None, rest),
        };
        let rules = [Some(first), second]
            .into_iter()
            .flatten()
            .map(rule)
            .collect::<Option<_>>()?;
        let (steps, _) = rest.as_chunks();
        let steps = &steps[..steps.len().min(STEPS)];
        Some(Self { rules, steps })
    }
}

/// A rule that fills up quickly, or an extreme one.
fn rule(&[kind, sort, limit, scale, window, capacity, buckets, max_wait]: &[u8; RULE]) -> Option<Rule> {
    const LIMITS: [u32; 8] = [1, 3, 7, 1000, 65_536, 1 << 31, u32::MAX - 1, u32::MAX];
    const WINDOWS: [Micros; 8] = [
        1_000_000,
        60_000_000,
        3_600_000_000,
        86_400_000_000,
        (1 << 48) - 1,
        1 << 48,
        315_359_999_999_999,
        315_360_000_000_000,
    ];
    let kind = kind % 7;
    let limit = match sort % 4 {
        0 | 1 => 1 + u32::from(limit) % 12,
        2 => 1 + 8 * u32::from(limit),
        _ => LIMITS[usize::from(limit) % 8],
    };
    // A log keeps an entry for each.
    let limit = if kind == 5 { limit % 300 + 1 } else { limit };
    let amount = Micros::from(window);
    let window = match scale % 4 {
        0 => 1 + amount,
        1 => 997 * (1 + amount),
        2 => 1_000_003 * (1 + amount),
        _ => WINDOWS[usize::from(window) % 8],
    };
    let buckets = if buckets < 128 { 1 } else { u32::from(buckets) % 64 + 1 };
    let window = if kind == 6 {
        window.next_multiple_of(buckets.into())
    } else {
        window
    };
    let capacity = match capacity {
        0..128 => limit,
        128..255 => 1 + u32::from(capacity - 128),
        255 => u32::MAX,
    };
    let quota = Quota::try_new(limit, Duration::from_micros(window)).ok()?;
    let leaky = || LeakyBucket::try_with_capacity(quota, capacity).ok();
    Some(match kind {
        0 => TokenBucket::try_with_capacity(quota, capacity).ok()?.rule(),
        1 => leaky()?.policing().rule(),
        2 if max_wait < 128 => leaky()?.rule(),
        2 => {
            let max_wait = Duration::from_micros(window / 100 * Micros::from(max_wait - 128));
            leaky()?.try_max_wait(max_wait).ok()?.rule()
        }
        3 => FixedWindow::new(quota).rule(),
        4 => FixedWindow::new(quota).anchored().rule(),
        5 => SlidingLog::try_new(quota).ok()?.rule(),
        _ => SlidingCounter::new(quota).try_buckets(buckets).ok()?.rule(),
    })
}

pub(super) fn window(rule: &Rule) -> Micros {
    rule.quota().window().as_micros() as Micros
}

/// What is done at a step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deed {
    Acquire,
    /// Of one of the receipts that there are.
    Refund,
    Settle,
    Reset,
}

/// A step, the first byte of which says what is done and to whom, the next two how time moves, the last one at what cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step([u8; STEP]);

impl From<[u8; STEP]> for Step {
    fn from(bytes: [u8; STEP]) -> Self {
        Self(bytes)
    }
}

impl Step {
    pub(super) fn deed(self) -> Deed {
        match self.0[0] / 4 % 16 {
            0..=10 => Deed::Acquire,
            11 | 12 => Deed::Refund,
            13 | 14 => Deed::Settle,
            _ => Deed::Reset,
        }
    }

    /// One of a few.
    pub(super) fn key(self) -> usize {
        usize::from(self.0[0] % 4)
    }

    /// One of so many.
    pub(super) fn pick(self, of: usize) -> usize {
        usize::from(self.0[0] / 64) % of
    }

    /// The time of the step: later in most cases, as a share of a rule's window or in microseconds.
    pub(super) fn after(self, now: Micros, rule: &Rule) -> Micros {
        let [_, unit, amount, _] = self.0;
        let share = window(rule) / 100 * Micros::from(amount);
        match unit % 8 {
            0..=2 => now + share,
            3 | 4 => now + Micros::from(amount),
            5 => now + Micros::from(amount) * 251,
            6 => now,
            _ => now.saturating_sub(share.min(now / 2)),
        }
        .min(END_OF_TIME)
    }

    /// A cost, from nothing to more than the rule ever holds.
    pub(super) fn cost(self, rule: &Rule) -> Cost {
        let [.., cost] = self.0;
        let share = |percent: u64| (u64::from(rule.capacity()) * percent / 100).min(u32::MAX.into()) as Cost;
        match cost {
            0 => 0,
            1..64 => 1,
            64..128 => Cost::from(cost) % 8,
            128..255 => share(u64::from(cost) - 128),
            255 => Cost::MAX,
        }
    }
}
