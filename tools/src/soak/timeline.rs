//! When Redis was broken and when the machine stood still, and what a request can therefore expect.

use std::time::{Duration, Instant};

use crate::{
    answer::{Answer, By},
    faults::Fault,
    heartbeat::Stall,
    limits::PROCESSES,
    load::{PACE, Record},
};

/// How long after it was mended a Redis has to be asked again.
pub(crate) const BACK: Duration = Duration::from_secs(1);

/// What a soak cannot see: a process is asked every 10 ms, and half of its requests are refused without asking Redis. Of
/// five in a row, one in thirty-two times none would show that it is back.
pub(crate) const BLINK: Duration = PACE.saturating_mul(5);

/// A fault and the calm after it.
pub(crate) struct Episode {
    pub(crate) fault: Fault,
    pub(crate) began: Instant,
    pub(crate) mended: Instant,
    /// When the next one began, or the load ended.
    pub(crate) over: Instant,
}

#[derive(Default)]
pub(crate) struct Timeline {
    pub(crate) episodes: Vec<Episode>,
    pub(crate) stalls: Vec<Stall>,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Phase {
    Calm,
    /// Redis has been mended, and need not have been found yet.
    Mended,
    Broken(Fault),
    /// The machine stands still, or has, so that deadlines passed and Redis need not have been found again.
    Stalled,
}

/// How long one process took to find that Redis is back.
#[derive(Clone, Copy, Default)]
pub(crate) struct Recovery {
    /// Until Redis decided for the first time.
    pub(crate) first: Option<Duration>,
    /// Until a request was last decided without it.
    pub(crate) last: Duration,
}

impl Episode {
    /// How each process found that Redis is back.
    pub(crate) fn recovery(&self, records: &[Record]) -> [Recovery; PROCESSES] {
        let mut recovery = [Recovery::default(); PROCESSES];
        let since = |record: &&Record| record.began >= self.mended && record.ended < self.over;
        for record in records.iter().filter(since) {
            let Ok(Answer { by, admits, .. }) = record.answer else {
                continue;
            };
            let process = &mut recovery[record.process];
            if by != By::Redis {
                process.last = process.last.max(record.began - self.mended);
            } else if admits {
                // A refusal may be repeated without asking Redis.
                let after = record.ended - self.mended;
                process.first = Some(process.first.map_or(after, |first| first.min(after)));
            }
        }
        recovery
    }
}

impl Timeline {
    /// What a request can expect: the worst of what it has lived through.
    pub(crate) fn phase(&self, record: &Record) -> Phase {
        // The last that began before it was answered.
        let last = self.episodes.partition_point(|episode| episode.began <= record.ended);
        match self.episodes[..last].last() {
            Some(episode) if record.began <= episode.mended => Phase::Broken(episode.fault),
            _ if self.is_stalled(record.began, record.ended) => Phase::Stalled,
            Some(episode) if record.began < episode.mended + BACK + BLINK => Phase::Mended,
            _ => Phase::Calm,
        }
    }

    /// Whether the machine stood still meanwhile, or so shortly before that it shows.
    pub(crate) fn is_stalled(&self, from: Instant, to: Instant) -> bool {
        let shows = |stall: &Stall| stall.from <= to && from <= stall.to + BACK + BLINK;
        self.stalls.iter().any(shows)
    }

    /// For how long the machine stood still meanwhile. Several may have noticed the same.
    pub(crate) fn stood_still(&self, from: Instant, to: Instant) -> Duration {
        let meanwhile = self.stalls.iter().filter(|stall| stall.from <= to && from <= stall.to);
        let each = meanwhile.map(|stall| stall.to - stall.from);
        each.max().unwrap_or_default()
    }
}
