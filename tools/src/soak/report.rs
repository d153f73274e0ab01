//! The report at the end of a run.

use std::time::Duration;

use crate::{
    answer::{Answer, DecidedBy},
    faults::Fault,
    invariants::{Run, check_all},
    latencies::{LATE, Latencies},
    load::Record,
    timeline::Phase,
};

/// Prints the report, and returns whether every invariant held.
pub(crate) fn print(run: &Run) -> bool {
    let late = format!(">{} ms", LATE.as_millis());
    println!();
    println!(
        "{:23} {:>5} {:>8} {:>8} {:>7} {:>7} {:>7} {:>9} {:>8} {:>9} {:>5} {:>8}",
        "", "times", "seconds", "requests", "p50 ms", "p99 ms", "max ms", late, "Redis", "unchecked", "503", "fallback"
    );
    for phase in phases(run) {
        row(run, phase);
    }
    println!(
        "({late}: the deadline and 20 ms. Latencies are measured by the client, and include all other load on the machine.)\n"
    );
    let invariants = check_all(run);
    for invariant in &invariants {
        println!("{invariant}");
    }
    invariants.iter().all(|invariant| invariant.holds())
}

/// The phases that occurred.
fn phases(run: &Run) -> impl Iterator<Item = Phase> {
    let happened = |fault: &Fault| run.timeline.episodes.iter().any(|episode| episode.fault == *fault);
    let faults = Fault::ALL.into_iter().filter(happened).map(Phase::Faulty);
    let others = [Phase::Calm, Phase::Recovering, Phase::Stalled].into_iter();
    let others = others.filter(|phase| run.records.iter().any(|record| run.phase(record) == *phase));
    others.chain(faults)
}

fn row(run: &Run, phase: Phase) {
    let (name, times, duration) = match phase {
        Phase::Calm => ("calm", String::new(), String::new()),
        Phase::Recovering => ("up to 1 s after a fault", String::new(), String::new()),
        Phase::Stalled => ("machine stalled", String::new(), String::new()),
        Phase::Faulty(fault) => {
            let episodes = run.timeline.episodes.iter().filter(|episode| episode.fault == fault);
            let each: Vec<Duration> = episodes.map(|episode| episode.repaired - episode.began).collect();
            let duration: Duration = each.iter().sum();
            (
                fault.name(),
                each.len().to_string(),
                format!("{:.1}", duration.as_secs_f64()),
            )
        }
    };
    let records: Vec<_> = run.records.iter().filter(|record| run.phase(record) == phase).collect();
    let latencies = Latencies::new(records.iter().map(|record| record.ended - record.began));
    let [redis, unchecked, unavailable, fallback] = deciders(&records);
    println!(
        "{name:23} {times:>5} {duration:>8} {:>8} {latencies} {redis:>8} {unchecked:>9} {unavailable:>5} {fallback:>8}",
        latencies.count()
    );
}

/// The numbers of requests decided by Redis, admitted unchecked, rejected with 503, and decided by the fallback.
fn deciders(records: &[&Record]) -> [usize; 4] {
    let mut counts = [0; 4];
    for record in records {
        match record.answer {
            Ok(Answer {
                decided_by: DecidedBy::Redis,
                ..
            }) => counts[0] += 1,
            Ok(Answer {
                decided_by: DecidedBy::FailureMode,
                admits: true,
                ..
            }) => counts[1] += 1,
            Ok(Answer {
                decided_by: DecidedBy::FailureMode,
                ..
            }) => counts[2] += 1,
            Ok(Answer {
                decided_by: DecidedBy::Fallback,
                ..
            }) => counts[3] += 1,
            Err(_) => {}
        }
    }
    counts
}
