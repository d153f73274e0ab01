//! The cost of tracing spans and metrics per request.

use std::{path::PathBuf, process::Command};

use crate::{
    benchmark::{Benchmark, Group},
    instructions,
    runner::{Pair, Runner},
    subprocess::sibling_program,
};

const NO_TRACING: &str = "no tracing";
const NO_METRICS: &str = "no feature";

#[rustfmt::skip] // one row per line
const BENCHMARKS: &[Benchmark] = &[
    Benchmark::new("observe_spans", "ns", NO_TRACING, |runner| time(runner, TRACED, UNTRACED)),
    Benchmark::new("observe_spans_instructions", "instr", NO_TRACING, |_| count(TRACED, UNTRACED)),
    Benchmark::new("observe_metrics", "ns", NO_METRICS, |runner| time(runner, METRICS, TRACED)),
    Benchmark::new("observe_metrics_instructions", "instr", NO_METRICS, |_| count(METRICS, TRACED)),
    Benchmark::new("observe_metrics_recorded", "ns", NO_METRICS, |runner| time(runner, RECORDED, TRACED)),
    Benchmark::new("observe_metrics_recorded_instructions", "instr", NO_METRICS, |_| count(RECORDED, TRACED)),
];

pub const GROUP: Group = Group {
    title: "Observability",
    method: include_str!("method.md"),
    benchmarks: BENCHMARKS,
    scalings: &[],
};

/// A build of the program `pass`, by feature, and its arguments.
#[derive(Clone, Copy)]
struct Pass(&'static str, &'static [&'static str]);

const UNTRACED: Pass = Pass("untraced", &[]);
const TRACED: Pass = Pass("traced", &[]);
const METRICS: Pass = Pass("metrics", &[]);
const RECORDED: Pass = Pass("metrics", &["prometheus"]);

impl Pass {
    /// scripts/bench builds each in its own directory, next to the one of this program.
    fn program(self) -> PathBuf {
        sibling_program("../").join(self.0).join("release/pass")
    }

    /// Nanoseconds per request, as printed by the program.
    fn nanoseconds(self) -> f64 {
        let mut pass = Command::new(self.program());
        let output = pass.args(self.1).arg("5000000").output();
        let output = output.expect("built by scripts/bench");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let stdout = String::from_utf8_lossy(&output.stdout);
        stdout.trim().parse().expect("a number")
    }
}

fn time(runner: &Runner, ours: Pass, other: Pass) -> Pair {
    runner.alternate(|_| ours.nanoseconds(), |_| other.nanoseconds())
}

fn count(ours: Pass, other: Pass) -> Pair {
    let [ours, other] = [ours, other].map(|pass| instructions::per_iteration(&pass.program(), pass.1));
    Pair { ours, other }
}
