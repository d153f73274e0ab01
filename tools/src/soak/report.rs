//! The report at the end of a run.

use std::time::Duration;

use crate::{
    answer::{Answer, DecidedBy},
    invariants::{Invariant, Run, check_all},
    latencies::{LATE, Latencies},
    load::Record,
    scenario::Scenario,
    timeline::Phase,
};

/// Prints the report, and returns whether an invariant was violated.
pub(crate) fn print(run: &Run) -> bool {
    let late = format!(">{} ms", LATE.as_millis());
    println!();
    println!(
        "{:23} {:>5} {:>8} {:>8} {:>7} {:>7} {:>7} {:>9} {:>8} {:>9} {:>5} {:>8}",
        "", "times", "seconds", "requests", "p50 ms", "p99 ms", "max ms", late, "Redis", "unchecked", "503", "fallback"
    );
    let records: Vec<_> = run.by_phase().collect();
    for phase in phases(run, &records) {
        let of_phase = records.iter().filter(|(other, _)| *other == phase);
        let of_phase: Vec<_> = of_phase.map(|(_, record)| *record).collect();
        row(run, phase, &of_phase);
    }
    println!(
        "({late}: the deadline and 20 ms. Latencies are measured by the client, and include all other load on the machine.)\n"
    );
    let invariants = check_all(run);
    for invariant in &invariants {
        println!("{invariant}");
    }
    invariants.iter().any(Invariant::is_violated)
}

/// The phases that occurred. A fault has a row even if the machine stalled during all of it.
fn phases(run: &Run, records: &[(Phase, &Record)]) -> Vec<Phase> {
    let others = [Phase::Calm, Phase::Recovering, Phase::Settling, Phase::Stalled].into_iter();
    let others = others.filter(|phase| records.iter().any(|(other, _)| other == phase));
    let mut faults: Vec<_> = run.scenario.faults().into_iter().map(|(fault, _)| fault).collect();
    faults.dedup();
    let happened = run.timeline.faults();
    faults.retain(|fault| happened.contains(fault));
    let faults = faults.into_iter().flat_map(|fault| match run.scenario {
        Scenario::Faults => vec![Phase::Faulty(fault)],
        Scenario::Latency => vec![Phase::Available(fault)],
        Scenario::Cluster => vec![Phase::Faulty(fault), Phase::Available(fault)],
    });
    others.chain(faults).collect()
}

fn row(run: &Run, phase: Phase, records: &[&Record]) {
    let no_episodes = (String::new(), String::new());
    let (name, (times, duration)) = match phase {
        Phase::Calm => ("calm".into(), no_episodes),
        Phase::Recovering => ("up to 1 s after a fault".into(), no_episodes),
        Phase::Settling => ("first second of a phase".into(), no_episodes),
        Phase::Stalled => ("machine stalled".into(), no_episodes),
        Phase::Available(_) if run.scenario == Scenario::Cluster => ("  the other nodes".into(), no_episodes),
        Phase::Faulty(fault) | Phase::Available(fault) => {
            let episodes = run.timeline.episodes.iter().filter(|episode| episode.fault == fault);
            let each: Vec<Duration> = episodes.map(|episode| episode.repaired - episode.began).collect();
            let duration: Duration = each.iter().sum();
            let episodes = (each.len().to_string(), format!("{:.1}", duration.as_secs_f64()));
            (fault.to_string(), episodes)
        }
    };
    let latencies = Latencies::new(records.iter().map(|record| record.ended - record.began));
    let [redis, unchecked, unavailable, fallback] = deciders(records);
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
