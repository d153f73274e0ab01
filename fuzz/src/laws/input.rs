//! Decodes limits and steps from the input. Nearly every input is valid.

use std::time::Duration;

use tollgate::{
    Algorithm, AnyAlgorithm, Cost, FixedWindow, LeakyBucket, MAX_TIMESTAMP, Micros, Quota, SlidingCounter, SlidingLog,
    TokenBucket,
};

const LIMIT_BYTES: usize = 8;
const STEP_BYTES: usize = 4;

/// Bounds the time of one input.
const MAX_STEPS: usize = 64;

pub(super) struct Input<'i> {
    pub(super) algorithms: Vec<AnyAlgorithm>,
    pub(super) steps: &'i [[u8; STEP_BYTES]],
}

impl<'i> Input<'i> {
    /// `None`, if a limit is out of range.
    pub(super) fn parse(input: &'i [u8]) -> Option<Self> {
        let (first, rest) = input.split_first_chunk::<LIMIT_BYTES>()?;
        let (second, rest) = match rest.split_first_chunk::<LIMIT_BYTES>() {
            // The first byte selects whether there is a second limit.
            Some((second, after)) if first[0] >= 128 => (Some(second), after),
            _ => (None, rest),
        };
        let algorithms = [Some(first), second]
            .into_iter()
            .flatten()
            .map(algorithm)
            .collect::<Option<_>>()?;
        let (steps, _) = rest.as_chunks();
        let steps = &steps[..steps.len().min(MAX_STEPS)];
        Some(Self { algorithms, steps })
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    TokenBucket,
    Policing,
    Queue,
    FixedWindow,
    AnchoredWindow,
    SlidingLog,
    SlidingCounter,
}

/// The first byte of a limit, modulo their number, is an index into this list.
const KINDS: [Kind; 7] = [
    Kind::TokenBucket,
    Kind::Policing,
    Kind::Queue,
    Kind::FixedWindow,
    Kind::AnchoredWindow,
    Kind::SlidingLog,
    Kind::SlidingCounter,
];

/// A limit that is quickly exhausted, or an extreme one.
fn algorithm(
    &[kind, sort, limit, scale, window, capacity, sub_windows, max_wait]: &[u8; LIMIT_BYTES],
) -> Option<AnyAlgorithm> {
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
    let kind = KINDS[usize::from(kind) % KINDS.len()];
    let limit = match sort % 4 {
        0 | 1 => 1 + u32::from(limit) % 12,
        2 => 1 + 8 * u32::from(limit),
        _ => LIMITS[usize::from(limit) % 8],
    };
    // A log stores one entry per unit of its limit.
    let limit = if kind == Kind::SlidingLog {
        limit % 300 + 1
    } else {
        limit
    };
    let amount = Micros::from(window);
    let window = match scale % 4 {
        0 => 1 + amount,
        1 => 997 * (1 + amount),
        2 => 1_000_003 * (1 + amount),
        _ => WINDOWS[usize::from(window) % 8],
    };
    let sub_windows = if sub_windows < 128 {
        1
    } else {
        u32::from(sub_windows) % 64 + 1
    };
    let window = if kind == Kind::SlidingCounter {
        window.next_multiple_of(sub_windows.into())
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
        Kind::TokenBucket => TokenBucket::try_with_capacity(quota, capacity).ok()?.to_any(),
        Kind::Policing => leaky()?.policing().to_any(),
        Kind::Queue if max_wait < 128 => leaky()?.to_any(),
        Kind::Queue => {
            let max_wait = Duration::from_micros(window / 100 * Micros::from(max_wait - 128));
            leaky()?.try_max_wait(max_wait).ok()?.to_any()
        }
        Kind::FixedWindow => FixedWindow::new(quota).to_any(),
        Kind::AnchoredWindow => FixedWindow::new(quota).anchored().to_any(),
        Kind::SlidingLog => SlidingLog::try_new(quota).ok()?.to_any(),
        Kind::SlidingCounter => SlidingCounter::new(quota).try_sub_windows(sub_windows).ok()?.to_any(),
    })
}

pub(super) fn window(algorithm: &AnyAlgorithm) -> Micros {
    algorithm.quota().unwrap().window().as_micros() as Micros
}

/// The operation of a step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    Acquire,
    /// Of one of the open receipts.
    Refund,
    /// Of one of the open receipts.
    Settle,
    Reset,
}

/// A step: the first byte selects the action and the key, the next two how time moves, the last one the cost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step([u8; STEP_BYTES]);

impl From<[u8; STEP_BYTES]> for Step {
    fn from(bytes: [u8; STEP_BYTES]) -> Self {
        Self(bytes)
    }
}

impl Step {
    pub(super) fn action(self) -> Action {
        match self.0[0] / 4 % 16 {
            0..=10 => Action::Acquire,
            11 | 12 => Action::Refund,
            13 | 14 => Action::Settle,
            _ => Action::Reset,
        }
    }

    /// One of four keys.
    pub(super) fn key(self) -> usize {
        usize::from(self.0[0] % 4)
    }

    /// An index below `len`.
    pub(super) fn index(self, len: usize) -> usize {
        usize::from(self.0[0] / 64) % len
    }

    /// The time of the step: usually later, by a fraction of the window or by microseconds.
    pub(super) fn time(self, now: Micros, algorithm: &AnyAlgorithm) -> Micros {
        let [_, unit, amount, _] = self.0;
        let share = window(algorithm) / 100 * Micros::from(amount);
        match unit % 8 {
            0..=2 => now + share,
            3 | 4 => now + Micros::from(amount),
            5 => now + Micros::from(amount) * 251,
            6 => now,
            _ => now.saturating_sub(share.min(now / 2)),
        }
        .min(MAX_TIMESTAMP)
    }

    /// A cost, from 0 to more than the capacity.
    pub(super) fn cost(self, algorithm: &AnyAlgorithm) -> Cost {
        let [.., cost] = self.0;
        let share = |percent: u64| (u64::from(algorithm.capacity()) * percent / 100).min(u32::MAX.into()) as Cost;
        match cost {
            0 => 0,
            1..64 => 1,
            64..128 => Cost::from(cost) % 8,
            128..255 => share(u64::from(cost) - 128),
            255 => Cost::MAX,
        }
    }
}
