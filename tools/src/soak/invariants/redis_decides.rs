//! Redis decides while it is available: at any latency below the deadline, and on the nodes of a cluster that have no fault.

use super::{Invariant, Run};
use crate::{faults::Fault, timeline::Phase};

/// One request in this many, rounded up, may be decided without Redis: not every thread that delays it has a stall detector.
const MISS_RATIO: usize = 1000;

/// The requests of all episodes of a fault for which Redis was available.
struct Sum {
    fault: Fault,
    requests: usize,
    missed: usize,
}

pub(super) fn check(run: &Run) -> Invariant {
    let faults = run.timeline.faults();
    let mut sums: Vec<_> = faults.into_iter().map(Sum::new).collect();
    for (phase, record) in run.by_phase() {
        if let Some(sum) = sums.iter_mut().find(|sum| phase == Phase::Available(sum.fault)) {
            sum.requests += 1;
            sum.missed += usize::from(!record.is_decided_by_redis());
        }
    }
    let checked = sums.iter().map(|sum| sum.requests).sum();
    let missed: usize = sums.iter().map(|sum| sum.missed).sum();
    let mut measurements = vec![
        format!("{checked} requests, {missed} of them decided without Redis; allowed: one in {MISS_RATIO}, rounded up"),
        "requests during a stall of the machine, and up to a second after it, are ignored".into(),
    ];
    let not_checked = sums.iter().filter(|sum| sum.requests == 0);
    measurements.extend(not_checked.map(|sum| format!("not checked, without such requests: {}", sum.fault)));
    let violated = sums.iter().filter(|sum| sum.missed > sum.requests.div_ceil(MISS_RATIO));
    Invariant {
        description: "Redis decides while it is available: at every round trip below the deadline and every rate, and on every node \
                      of a cluster that has no fault",
        checked,
        measurements,
        violations: violated.map(Sum::describe).collect(),
    }
}

impl Sum {
    fn new(fault: Fault) -> Self {
        let (requests, missed) = (0, 0);
        Self {
            fault,
            requests,
            missed,
        }
    }

    fn describe(&self) -> String {
        let Self {
            fault,
            requests,
            missed,
        } = self;
        format!("{missed} of {requests} requests were decided without Redis, during: {fault}")
    }
}
