//! How many instructions a decision takes, which does not depend on the machine's mood.

use std::{path::Path, process::Command};

use crate::{
    bench::Pair,
    figure::{Figure, Group},
    sibling::sibling,
};

const UNIT: &str = "instr";
const ALONE: &str = "peek and commit alone";

#[rustfmt::skip] // a table reads best as one
const FIGURES: &[Figure] = &[
    Figure::new("instructions_token_bucket", UNIT, ALONE, |_| instructions("token_bucket")),
    Figure::new("instructions_leaky_bucket", UNIT, ALONE, |_| instructions("leaky_bucket")),
    Figure::new("instructions_fixed_window", UNIT, ALONE, |_| instructions("fixed_window")),
    Figure::new("instructions_sliding_log", UNIT, ALONE, |_| instructions("sliding_log")),
    Figure::new("instructions_sliding_counter", UNIT, ALONE, |_| instructions("sliding_counter")),
];

pub const GROUP: Group = Group {
    title: "Instructions of a decision",
    how: include_str!("how.md"),
    figures: FIGURES,
    growths: &[],
};

fn instructions(algorithm: &str) -> Pair {
    Pair {
        ours: each(algorithm, "store") - each(algorithm, "clock"),
        other: each(algorithm, "alone"),
    }
}

fn each(algorithm: &str, way: &str) -> f64 {
    of_each_turn(&sibling("decide"), &[algorithm, way])
}

/// What a turn takes of a program whose last argument is how many turns to do.
pub fn of_each_turn(program: &Path, arguments: &[&str]) -> f64 {
    let (few, many) = (10_000, 30_000);
    let counted = |count| collected(program, arguments, count);
    (counted(many) - counted(few)) / f64::from(many - few)
}

/// What callgrind collected in a whole run.
fn collected(program: &Path, arguments: &[&str], count: u32) -> f64 {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(program).args(arguments).arg(count.to_string());
    let output = valgrind.output().expect("valgrind is installed");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let collected = said.lines().find_map(|line| line.split_once("Collected : "));
    let (_, number) = collected.expect("callgrind says what it collected");
    number.trim().parse().expect("it is a number")
}
