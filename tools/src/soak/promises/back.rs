//! A Redis that is back is asked.

use std::time::{Duration, Instant};

use super::{promise::Promise, run::Run};
use crate::{
    answer::{Answer, By},
    limits::DEADLINE,
    load::Record,
    timeline::{BACK, BLINK, Episode, Phase, Recovery},
};

/// A thread that is kept from running makes a request late, and not every thread has a heartbeat. One request in so many
/// may be; a Redis that is not asked shows in requests that are decided at once.
const MISSED: usize = 1000;

pub(super) fn promise(run: &Run) -> Promise {
    let stalled = |at: &Instant| run.timeline.is_stalled(*at, *at);
    let unwell = run.unwell.iter().filter(|(at, _)| !stalled(at));
    let mut broken: Vec<_> = unwell.map(|(_, said)| said.clone()).collect();
    let (mut first, mut last, mut judged) = (Duration::ZERO, Duration::ZERO, 0);
    for (episode, process, recovery) in recoveries(run) {
        let until = episode.mended + recovery.last.max(BACK + BLINK);
        if run.timeline.stood_still(episode.mended, until) > Duration::ZERO {
            continue;
        }
        // One that was not back before the next fault was not back for as long as it could have been.
        let after = recovery.first.unwrap_or(episode.over - episode.mended);
        (first, last, judged) = (first.max(after), last.max(recovery.last), judged + 1);
        if after > BACK + BLINK {
            let fault = episode.fault.name();
            broken.push(format!("process {process} was back after {after:.2?}, after: {fault}"));
        }
    }
    let is_calm = |record: &&Record| run.phase(record) == Phase::Calm;
    let is_without = |record: &&Record| record.answer.as_ref().is_ok_and(|answer| answer.by != By::Redis);
    let calm = run.records.iter().filter(is_calm).count();
    let without = run.records.iter().filter(is_without).filter(is_calm);
    let (late, at_once): (Vec<_>, Vec<_>) = without.partition(|record| record.ended - record.began >= DEADLINE);
    let figures = vec![
        format!(
            "{calm} requests in the calm; decided without Redis were {} at once, and {} when the deadline had passed",
            at_once.len(),
            late.len()
        ),
        format!(
            "allowed are none at once, and one in {MISSED} whose deadline has passed, as they do on a busy machine"
        ),
        format!(
            "{judged} times a process was back, after {first:.2?} at most, counted to the first admission by Redis"
        ),
        format!("the last request without Redis came {last:.2?} after it was mended"),
        format!(
            "allowed are {BACK:?}, and {BLINK:?} because nobody asks more often; not judged is who was asked while the \
             machine stood still, and until as long after"
        ),
        stood_still(run),
    ];
    let too_late = if late.len() * MISSED > calm { late } else { Vec::new() };
    broken.extend(at_once.iter().chain(&too_late).map(|record| tell(run, record)));
    Promise {
        words: "from a second after Redis was mended, Redis decides: nothing is unchecked, 503 or by the fallback",
        figures,
        broken,
    }
}

fn recoveries(run: &Run) -> impl Iterator<Item = (&Episode, usize, Recovery)> {
    run.timeline.episodes.iter().flat_map(|episode| {
        let each = episode.recovery(&run.records).into_iter().enumerate();
        each.map(move |(process, recovery)| (episode, process, recovery))
    })
}

fn stood_still(run: &Run) -> String {
    let stalls = &run.timeline.stalls;
    let each = stalls.iter().map(|stall| stall.to - stall.from);
    let worst = each.max().unwrap_or_default();
    format!(
        "threads that do nothing else, one of which asks Redis for an answer, found {} times that it did, for {worst:.0?} \
         at worst",
        stalls.len()
    )
}

/// What there is to say of a request that Redis should have decided.
fn tell(run: &Run, one: &Record) -> String {
    let within = |other: &&Record| other.process == one.process && one.began < other.began && other.ended < one.ended;
    let others: Vec<_> = run.records.iter().filter(within).collect();
    let admitted = others.iter().filter(|other| {
        matches!(
            other.answer,
            Ok(Answer {
                by: By::Redis,
                admits: true,
                ..
            })
        )
    });
    let answer = one
        .answer
        .as_ref()
        .map_or_else(ToString::to_string, ToString::to_string);
    // If others were admitted, neither Redis nor the process stood still.
    format!(
        "/{} of process {}, {}: {answer}; it took {:.0?}, in which {} others came and went, {} of them admitted by Redis",
        one.mode.name(),
        one.process,
        since(&run.timeline.episodes, one.began),
        one.ended - one.began,
        others.len(),
        admitted.count()
    )
}

/// How long ago which fault was mended.
fn since(episodes: &[Episode], at: Instant) -> String {
    let last = episodes.iter().rev().find(|episode| episode.mended <= at);
    last.map_or_else(
        || "before any fault".into(),
        |episode| format!("{:.1?} after: {}", at - episode.mended, episode.fault.name()),
    )
}
