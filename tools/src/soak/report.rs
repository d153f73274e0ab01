//! What is told at the end.

use std::time::Duration;

use crate::{
    answer::{Answer, By},
    faults::Fault,
    latencies::{LATE, Latencies},
    load::Record,
    promises::{Run, promises},
    timeline::Phase,
};

/// Tells it, and whether every promise was kept.
pub(crate) fn tell(run: &Run) -> bool {
    let late = format!(">{} ms", LATE.as_millis());
    println!();
    println!(
        "{:23} {:>5} {:>8} {:>8} {:>7} {:>7} {:>7} {:>9} {:>8} {:>9} {:>5} {:>8}",
        "", "times", "seconds", "requests", "p50 ms", "p99 ms", "max ms", late, "Redis", "unchecked", "503", "fallback"
    );
    for phase in phases(run) {
        row(run, phase);
    }
    println!("({late}: the deadline and 20 ms. Latencies are the client's, on whatever else the machine does.)\n");
    let promises = promises(run);
    for promise in &promises {
        println!("{promise}");
    }
    promises.iter().all(|promise| promise.is_kept())
}

/// Those that there were.
fn phases(run: &Run) -> impl Iterator<Item = Phase> {
    let happened = |fault: &Fault| run.timeline.episodes.iter().any(|episode| episode.fault == *fault);
    let faults = Fault::ALL.into_iter().filter(happened).map(Phase::Broken);
    let others = [Phase::Calm, Phase::Mended, Phase::Stalled].into_iter();
    let others = others.filter(|phase| run.records.iter().any(|record| run.phase(record) == *phase));
    others.chain(faults)
}

fn row(run: &Run, phase: Phase) {
    let (name, times, lasted) = match phase {
        Phase::Calm => ("calm", String::new(), String::new()),
        Phase::Mended => ("up to 1 s after a fault", String::new(), String::new()),
        Phase::Stalled => ("the machine stood still", String::new(), String::new()),
        Phase::Broken(fault) => {
            let episodes = run.timeline.episodes.iter().filter(|episode| episode.fault == fault);
            let each: Vec<Duration> = episodes.map(|episode| episode.mended - episode.began).collect();
            let lasted: Duration = each.iter().sum();
            (
                fault.name(),
                each.len().to_string(),
                format!("{:.1}", lasted.as_secs_f64()),
            )
        }
    };
    let records: Vec<_> = run.records.iter().filter(|record| run.phase(record) == phase).collect();
    let latencies = Latencies::of(records.iter().map(|record| record.ended - record.began));
    let [redis, unchecked, unavailable, fallback] = deciders(&records);
    println!(
        "{name:23} {times:>5} {lasted:>8} {:>8} {latencies} {redis:>8} {unchecked:>9} {unavailable:>5} {fallback:>8}",
        latencies.count()
    );
}

/// How many were decided by Redis, let through unchecked, turned away, and decided by the fallback.
fn deciders(records: &[&Record]) -> [usize; 4] {
    let mut counts = [0; 4];
    for record in records {
        match record.answer {
            Ok(Answer { by: By::Redis, .. }) => counts[0] += 1,
            Ok(Answer {
                by: By::Nobody,
                admits: true,
                ..
            }) => counts[1] += 1,
            Ok(Answer { by: By::Nobody, .. }) => counts[2] += 1,
            Ok(Answer { by: By::Fallback, .. }) => counts[3] += 1,
            Err(_) => {}
        }
    }
    counts
}
