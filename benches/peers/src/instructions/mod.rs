//! The number of instructions of a decision, which does not depend on the load of the machine.

use std::{path::Path, process::Command};

use crate::{
    benchmark::{Benchmark, Group},
    runner::Pair,
    subprocess::sibling_program,
};

const UNIT: &str = "instr";
const ALONE: &str = "peek and commit alone";

#[rustfmt::skip] // one row per line
const BENCHMARKS: &[Benchmark] = &[
    Benchmark::new("instructions_token_bucket", UNIT, ALONE, |_| instructions("token_bucket")),
    Benchmark::new("instructions_leaky_bucket", UNIT, ALONE, |_| instructions("leaky_bucket")),
    Benchmark::new("instructions_fixed_window", UNIT, ALONE, |_| instructions("fixed_window")),
    Benchmark::new("instructions_sliding_log", UNIT, ALONE, |_| instructions("sliding_log")),
    Benchmark::new("instructions_sliding_counter", UNIT, ALONE, |_| instructions("sliding_counter")),
];

pub const GROUP: Group = Group {
    title: "Instructions of a decision",
    method: include_str!("method.md"),
    benchmarks: BENCHMARKS,
    scalings: &[],
};

fn instructions(algorithm: &str) -> Pair {
    Pair {
        ours: per_decision(algorithm, "store") - per_decision(algorithm, "clock"),
        other: per_decision(algorithm, "alone"),
    }
}

fn per_decision(algorithm: &str, mode: &str) -> f64 {
    per_iteration(&sibling_program("decide"), &[algorithm, mode])
}

/// The instructions per iteration of a program whose last argument is the number of iterations.
pub fn per_iteration(program: &Path, arguments: &[&str]) -> f64 {
    let (few, many) = (10_000, 30_000);
    let count = |iterations| callgrind(program, arguments, iterations);
    (count(many) - count(few)) / f64::from(many - few)
}

/// The instructions of a whole run.
fn callgrind(program: &Path, arguments: &[&str], iterations: u32) -> f64 {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(program).args(arguments).arg(iterations.to_string());
    let output = valgrind.output().expect("valgrind is installed");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let collected = stderr.lines().find_map(|line| line.split_once("Collected : "));
    let (_, number) = collected.expect("callgrind prints a total");
    number.trim().parse().expect("a number")
}
