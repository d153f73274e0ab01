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

/// The resolution of the measurement. A process receives a request every 10 ms, and half of them are denied from the denial
/// cache: with a probability of 1 in 32, none of five in a row shows that Redis is in use again.
pub(crate) const RESOLUTION: Duration = REQUEST_INTERVAL.saturating_mul(5);

/// A fault and the calm after it.
pub(crate) struct Episode {
    pub(crate) fault: Fault,
    pub(crate) began: Instant,
    pub(crate) repaired: Instant,
    /// When the next episode began, or the load ended.
    pub(crate) ended: Instant,
}

#[derive(Default)]
pub(crate) struct Timeline {
    pub(crate) episodes: Vec<Episode>,
    pub(crate) stalls: Vec<Stall>,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Phase {
    Calm,
    /// Redis has been repaired, and the processes may not have noticed yet.
    Recovering,
    Faulty(Fault),
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
    /// The recovery of each process.
    pub(crate) fn recovery(&self, records: &[Record]) -> [Recovery; PROCESSES] {
        let mut recovery = [Recovery::default(); PROCESSES];
        let in_calm = |record: &&Record| record.began >= self.repaired && record.ended < self.ended;
        for record in records.iter().filter(in_calm) {
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
    /// The phase of a request: the worst of those that it overlaps.
    pub(crate) fn phase(&self, record: &Record) -> Phase {
        // The last episode that began before the response.
        let last = self.episodes.partition_point(|episode| episode.began <= record.ended);
        match self.episodes[..last].last() {
            Some(episode) if record.began <= episode.repaired => Phase::Faulty(episode.fault),
            _ if self.is_stalled(record.began, record.ended) => Phase::Stalled,
            Some(episode) if record.began < episode.repaired + MAX_RECOVERY + RESOLUTION => Phase::Recovering,
            _ => Phase::Calm,
        }
    }

    /// Whether the machine stalled in this time, or shortly enough before it to affect it.
    pub(crate) fn is_stalled(&self, from: Instant, to: Instant) -> bool {
        let affects = |stall: &Stall| stall.from <= to && from <= stall.to + MAX_RECOVERY + RESOLUTION;
        self.stalls.iter().any(affects)
    }

    /// The longest stall that overlaps this time. Several detectors may have recorded the same one.
    pub(crate) fn longest_stall(&self, from: Instant, to: Instant) -> Duration {
        let overlapping = self.stalls.iter().filter(|stall| stall.from <= to && from <= stall.to);
        let lengths = overlapping.map(|stall| stall.to - stall.from);
        lengths.max().unwrap_or_default()
    }
}
