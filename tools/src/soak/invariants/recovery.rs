//! The processes use Redis again soon after it has recovered.

use std::time::{Duration, Instant};

use super::{Invariant, Run};
use crate::{
    answer::{Answer, DecidedBy},
    limits::DEADLINE,
    load::Record,
    timeline::{Episode, MAX_RECOVERY, Phase, Recovery},
};

/// One request in this many may exceed its deadline in a calm: a thread that is not scheduled delays its requests, and not every
/// thread has a stall detector. An open circuit breaker shows in requests that are decided at once.
const DEADLINE_MISS_RATIO: usize = 1000;

pub(super) fn check(run: &Run) -> Invariant {
    let stalled = |at: &Instant| run.timeline.is_stalled(*at, *at);
    let unhealthy = run.unhealthy.iter().filter(|(at, _)| !stalled(at));
    let mut violations: Vec<_> = unhealthy.map(|(_, report)| report.clone()).collect();
    let max_recovery = run.timeline.max_recovery();
    let (mut first, mut last, mut judged) = (Duration::ZERO, Duration::ZERO, 0);
    for (episode, process, recovery) in recoveries(run) {
        let until = episode.repaired + recovery.last.max(max_recovery);
        if run.timeline.longest_stall(episode.repaired, until) > Duration::ZERO {
            continue;
        }
        // A process that did not recover before the next fault took at least until then.
        let after = recovery.first.unwrap_or(episode.ended - episode.repaired);
        (first, last, judged) = (first.max(after), last.max(recovery.last), judged + 1);
        if after > max_recovery {
            let fault = episode.fault;
            violations.push(format!("process {process} recovered after {after:.2?}, after: {fault}"));
        }
    }
    let is_calm = |(phase, record)| (phase == Phase::Calm).then_some(record);
    let calm: Vec<_> = run.by_phase().filter_map(is_calm).collect();
    // A request without a response violates another invariant.
    let is_without_redis = |record: &&Record| record.answer.is_ok() && !record.is_decided_by_redis();
    let without_redis = calm.iter().copied().filter(is_without_redis);
    let (late, at_once): (Vec<_>, Vec<_>) = without_redis.partition(|record| record.ended - record.began >= DEADLINE);
    let (calm, resolution) = (calm.len(), run.timeline.resolution());
    let measurements = vec![
        format!(
            "{calm} requests in calm phases; decided without Redis: {} at once, {} after their deadline",
            at_once.len(),
            late.len()
        ),
        format!(
            "allowed: none at once, and one in {DEADLINE_MISS_RATIO} after its deadline, as happens on a busy machine"
        ),
        format!("{judged} recoveries of a process, after {first:.2?} at most, until the first admission by Redis"),
        format!("the last request without Redis arrived {last:.2?} after the repair"),
        format!(
            "allowed: {MAX_RECOVERY:?}, and {resolution:?} for the resolution of the load; requests during a stall of the machine, \
             and as long after it, are ignored"
        ),
        stalls(run),
    ];
    let too_late = if late.len() * DEADLINE_MISS_RATIO > calm {
        late
    } else {
        Vec::new()
    };
    violations.extend(at_once.iter().chain(&too_late).map(|record| describe(run, record)));
    Invariant {
        description: "from a second after its repair, Redis decides: no request is unchecked, 503 or decided by the fallback",
        checked: calm + judged,
        measurements,
        violations,
    }
}

fn recoveries(run: &Run) -> impl Iterator<Item = (&Episode, usize, Recovery)> {
    run.timeline.episodes.iter().flat_map(|episode| {
        let each = episode.recovery(&run.records).into_iter().enumerate();
        each.map(move |(process, recovery)| (episode, process, recovery))
    })
}

fn stalls(run: &Run) -> String {
    let stalls = &run.timeline.stalls;
    let lengths = stalls.iter().map(|stall| stall.to - stall.from);
    let longest = lengths.max().unwrap_or_default();
    format!(
        "the stall detectors, one of which pings Redis, recorded {} stalls, of {longest:.0?} at most",
        stalls.len()
    )
}

/// Describes a request that Redis should have decided.
fn describe(run: &Run, one: &Record) -> String {
    let within = |other: &&Record| other.process == one.process && one.began < other.began && other.ended < one.ended;
    let others: Vec<_> = run.records.iter().filter(within).collect();
    let admitted = others.iter().filter(|other| {
        matches!(
            other.answer,
            Ok(Answer {
                decided_by: DecidedBy::Redis,
                admits: true,
                ..
            })
        )
    });
    let answer = one
        .answer
        .as_ref()
        .map_or_else(ToString::to_string, ToString::to_string);
    // If Redis admitted others meanwhile, neither Redis nor the process was stalled.
    format!(
        "/{} of process {}, {}: {answer}; it took {:.0?}, during which {} others began and ended, {} of them admitted by Redis",
        one.mode.name(),
        one.process,
        since_repair(&run.timeline.episodes, one.began),
        one.ended - one.began,
        others.len(),
        admitted.count()
    )
}

fn since_repair(episodes: &[Episode], at: Instant) -> String {
    let last = episodes.iter().rev().find(|episode| episode.repaired <= at);
    last.map_or_else(
        || "before any fault".into(),
        |episode| format!("{:.1?} after: {}", at - episode.repaired, episode.fault),
    )
}
