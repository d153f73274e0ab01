//! When faults were active and when the machine stalled, and so what a request may expect.

use std::time::{Duration, Instant};

use crate::{
    answer::{Answer, DecidedBy},
    faults::Fault,
    limits::PROCESSES,
    load::{REQUEST_INTERVAL, Record},
    stall_detector::Stall,
};

/// How long after the repair of Redis a process may take to use it again.
pub(crate) const MAX_RECOVERY: Duration = Duration::from_secs(1);

/// The resolution of the measurement on one node. A process receives a request every 10 ms, and half of them are denied from the
/// denial cache: with a probability of 1 in 32, none of five in a row shows that Redis is in use again.
const RESOLUTION: Duration = REQUEST_INTERVAL.saturating_mul(5);

/// A fault and the calm after it.
pub(crate) struct Episode {
    pub(crate) fault: Fault,
    pub(crate) node: usize,
    pub(crate) began: Instant,
    pub(crate) repaired: Instant,
    /// When the next episode began, or the load ended.
    pub(crate) ended: Instant,
}

pub(crate) struct Timeline {
    /// The number of nodes, each of which receives its share of the requests.
    nodes: u32,
    pub(crate) episodes: Vec<Episode>,
    pub(crate) stalls: Vec<Stall>,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Phase {
    Calm,
    /// Redis has been repaired, and the processes may not have noticed yet.
    Recovering,
    Faulty(Fault),
    /// A fault has just begun that leaves Redis available for this request.
    Settling,
    /// A fault leaves Redis available for this request: the latency is below the deadline, or another node has the key.
    Available(Fault),
    /// The machine stalls or recently stalled: deadlines may have expired, and circuit breakers may be open.
    Stalled,
}

/// How long one process took to use Redis again.
#[derive(Clone, Copy, Default)]
pub(crate) struct Recovery {
    /// Until the first decision by Redis.
    pub(crate) first: Option<Duration>,
    /// Until the last decision without Redis.
    pub(crate) last: Duration,
}

impl Episode {
    /// Whether a request cannot be decided by Redis during this episode.
    pub(crate) fn affects(&self, record: &Record) -> bool {
        self.fault.is_outage() && self.node == record.node
    }

    /// The recovery of each process.
    pub(crate) fn recovery(&self, records: &[Record]) -> [Recovery; PROCESSES] {
        let mut recovery = [Recovery::default(); PROCESSES];
        let in_calm = |record: &&Record| record.began >= self.repaired && record.ended < self.ended;
        let affected = records.iter().filter(|record| self.affects(record));
        for record in affected.filter(in_calm) {
            let Ok(Answer { decided_by, admits, .. }) = record.answer else {
                continue;
            };
            let process = &mut recovery[record.process];
            if decided_by != DecidedBy::Redis {
                process.last = process.last.max(record.began - self.repaired);
            } else if admits {
                // A denial may come from the denial cache.
                let after = record.ended - self.repaired;
                process.first = Some(process.first.map_or(after, |first| first.min(after)));
            }
        }
        recovery
    }
}

impl Timeline {
    pub(crate) fn new(nodes: u32) -> Self {
        let (episodes, stalls) = (Vec::new(), Vec::new());
        Self {
            nodes,
            episodes,
            stalls,
        }
    }

    /// The faults that occurred, in the order of their first episodes.
    pub(crate) fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for Episode { fault, .. } in &self.episodes {
            if !faults.contains(fault) {
                faults.push(*fault);
            }
        }
        faults
    }

    /// The phase of a request: the worst of those that it overlaps.
    pub(crate) fn phase(&self, record: &Record) -> Phase {
        // The last episode that began before the response.
        let last = self.episodes.partition_point(|episode| episode.began <= record.ended);
        let Some(episode) = self.episodes[..last].last() else {
            let is_stalled = self.is_stalled(record.began, record.ended);
            return if is_stalled { Phase::Stalled } else { Phase::Calm };
        };
        let (fault, is_affected) = (episode.fault, episode.affects(record));
        let during = record.began <= episode.repaired;
        if is_affected && during {
            Phase::Faulty(fault)
        } else if self.is_stalled(record.began, record.ended) {
            Phase::Stalled
        } else if is_affected && record.began < episode.repaired + self.max_recovery() {
            Phase::Recovering
        } else if record.ended < episode.began + fault.settling() {
            Phase::Settling
        } else if during || !fault.is_outage() {
            Phase::Available(fault)
        } else {
            Phase::Calm
        }
    }

    /// The resolution of the measurement.
    pub(crate) fn resolution(&self) -> Duration {
        RESOLUTION * self.nodes
    }

    /// How long after the repair a process may be measured to use Redis again.
    pub(crate) fn max_recovery(&self) -> Duration {
        MAX_RECOVERY + self.resolution()
    }

    /// Whether the machine stalled in this time, or shortly enough before it to affect it.
    pub(crate) fn is_stalled(&self, from: Instant, to: Instant) -> bool {
        let affects = |stall: &Stall| stall.from <= to && from <= stall.to + self.max_recovery();
        self.stalls.iter().any(affects)
    }

    /// The longest stall that overlaps this time. Several detectors may have recorded the same one.
    pub(crate) fn longest_stall(&self, from: Instant, to: Instant) -> Duration {
        let overlapping = self.stalls.iter().filter(|stall| stall.from <= to && from <= stall.to);
        let lengths = overlapping.map(|stall| stall.to - stall.from);
        lengths.max().unwrap_or_default()
    }
}
