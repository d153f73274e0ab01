//! Counts the instructions that a layer adds to an axum request, and compares them with `baseline.txt`.
//!
//! `instructions` runs itself under callgrind once per service, prints a table, and exits with 1 if a count exceeds its baseline by
//! more than 3%. `instructions --write` replaces the baseline. `instructions SERVICE` is what callgrind runs.

mod callgrind;
mod services;

use std::{fmt::Write, fs, path::Path, process::ExitCode, thread};

/// By how much a count may exceed its baseline, in percent.
const MAX_GROWTH_PERCENT: u64 = 3;

const MEASURED: [&str; 3] = ["x_headers", "default", "three_tiers"];

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        None => check(&counts()),
        Some("--write") => {
            // The allocator's state moves a count by up to 2%: the baseline is the highest of three runs.
            let runs = [counts(), counts(), counts()];
            let highest = |index: usize| runs.iter().map(|run| run[index]).max();
            let counts: Vec<_> = (0..MEASURED.len()).filter_map(highest).collect();
            let lines = counts.iter().fold(String::new(), |mut lines, (name, count)| {
                writeln!(lines, "{name} {count}").expect("a String accepts all writes");
                lines
            });
            fs::write(baseline_path(), lines).expect("the baseline can be written");
            check(&counts)
        }
        Some(service) => {
            services::run(service);
            ExitCode::SUCCESS
        }
    }
}

/// The instructions that each layer adds to the plain service.
fn counts() -> Vec<(&'static str, u64)> {
    let counts = thread::scope(|scope| {
        let services = ["plain"].into_iter().chain(MEASURED);
        let runs: Vec<_> = services
            .map(|service| scope.spawn(move || callgrind::instructions_per_request(service)))
            .collect();
        runs.into_iter()
            .map(|run| run.join().expect("callgrind succeeds"))
            .collect::<Vec<u64>>()
    });
    let plain = counts[0];
    MEASURED
        .into_iter()
        .zip(counts[1..].iter().map(|count| count - plain))
        .collect()
}

fn check(counts: &[(&str, u64)]) -> ExitCode {
    let baseline = fs::read_to_string(baseline_path()).expect("there is a baseline");
    let mut has_grown = false;
    println!(
        "{:<12} {:>12} {:>9} {:>8}",
        "layer", "instructions", "baseline", "growth"
    );
    for (name, count) in counts {
        let expected = baseline
            .lines()
            .find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        let expected: u64 = expected.unwrap_or_else(|| panic!("baseline.txt has no line for {name}"));
        let growth = (*count as f64 / expected as f64 - 1.0) * 100.0;
        println!("{name:<12} {count:>12} {expected:>9} {growth:>+7.1}%");
        has_grown |= *count * 100 > expected * (100 + MAX_GROWTH_PERCENT);
    }
    match has_grown {
        true => {
            eprintln!("error: a layer takes over {MAX_GROWTH_PERCENT}% more instructions than its baseline.");
            eprintln!(
                "If a feature is worth them, run `scripts/instructions --write`, and state the reason in the commit."
            );
            ExitCode::FAILURE
        }
        false => ExitCode::SUCCESS,
    }
}

fn baseline_path() -> impl AsRef<Path> {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("baseline.txt")
}
