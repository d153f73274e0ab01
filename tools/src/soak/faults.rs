//! The kinds of faults.

use std::{fmt, time::Duration};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    Killed,
    Frozen,
    Flushed,
    ReadOnly,
    OutOfMemory,
    Busy,
    Slow,
    Cut,
    Silent,
    Disconnected,
    Garbage,
    Forbidden,
    /// A round trip below the deadline, at this many requests a second. It is no outage: Redis has to decide.
    Latency {
        round_trip: Duration,
        rate: u32,
    },
}

impl Fault {
    /// The outages of one Redis.
    pub(crate) const OUTAGES: [Self; 12] = [
        Self::Killed,
        Self::Frozen,
        Self::Flushed,
        Self::ReadOnly,
        Self::OutOfMemory,
        Self::Busy,
        Self::Slow,
        Self::Cut,
        Self::Silent,
        Self::Disconnected,
        Self::Garbage,
        Self::Forbidden,
    ];

    /// The outages of one node of a cluster.
    pub(crate) const NODE_OUTAGES: [Self; 3] = [Self::Slow, Self::Frozen, Self::Killed];

    /// Whether requests may be decided without Redis.
    pub(crate) fn is_outage(self) -> bool {
        !matches!(self, Self::Latency { .. })
    }

    /// How long after its begin the requests that it does not affect may be decided without Redis. A store has to measure a new
    /// round trip before it keeps as many calls in flight as that needs.
    pub(crate) fn settling(self) -> Duration {
        match self {
            Self::Latency { .. } => Duration::from_secs(1),
            _ => Duration::ZERO,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Killed => "killed and restarted",
            Self::Frozen => "frozen",
            Self::Flushed => "scripts flushed",
            Self::ReadOnly => "made a replica",
            Self::OutOfMemory => "out of memory",
            Self::Busy => "busy with a script",
            Self::Slow => "200 ms away",
            Self::Cut => "cut mid-reply",
            Self::Silent => "half-open, silent",
            Self::Disconnected => "clients killed",
            Self::Garbage => "garbage in keys",
            Self::Forbidden => "EVALSHA forbidden",
            Self::Latency { round_trip, rate } => return f.pad(&format!("{} ms, {rate}/s", round_trip.as_millis())),
        })
    }
}
