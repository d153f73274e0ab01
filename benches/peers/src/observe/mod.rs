//! What it costs a request that operators can see it.

use std::{path::PathBuf, process::Command};

use crate::{
    bench::{Bench, Pair},
    figure::{Figure, Group},
    instructions,
    sibling::sibling,
};

const UNTRACED: &str = "no tracing";
const UNMEASURED: &str = "no feature";

#[rustfmt::skip] // a table reads best as one
const FIGURES: &[Figure] = &[
    Figure::new("observe_spans", "ns", UNTRACED, |bench| time(bench, TRACED, BARE)),
    Figure::new("observe_spans_instructions", "instr", UNTRACED, |_| count(TRACED, BARE)),
    Figure::new("observe_metrics", "ns", UNMEASURED, |bench| time(bench, MEASURED, TRACED)),
    Figure::new("observe_metrics_instructions", "instr", UNMEASURED, |_| count(MEASURED, TRACED)),
    Figure::new("observe_metrics_recorded", "ns", UNMEASURED, |bench| time(bench, RECORDED, TRACED)),
    Figure::new("observe_metrics_recorded_instructions", "instr", UNMEASURED, |_| count(RECORDED, TRACED)),
];

pub const GROUP: Group = Group {
    title: "What operators see",
    how: include_str!("how.md"),
    figures: FIGURES,
    growths: &[],
};

/// The program as it is built in one way, and what it is told.
#[derive(Clone, Copy)]
struct Pass(&'static str, &'static [&'static str]);

const BARE: Pass = Pass("untraced", &[]);
const TRACED: Pass = Pass("traced", &[]);
const MEASURED: Pass = Pass("measured", &[]);
const RECORDED: Pass = Pass("measured", &["prometheus"]);

impl Pass {
    /// scripts/bench builds each in a folder of its own, beside this one's.
    fn program(self) -> PathBuf {
        sibling("../").join(self.0).join("release/pass")
    }

    /// Nanoseconds a request, as it says itself.
    fn nanoseconds(self) -> f64 {
        let mut pass = Command::new(self.program());
        let output = pass.args(self.1).arg("5000000").output();
        let output = output.expect("scripts/bench has built it");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8_lossy(&output.stdout);
        said.trim().parse().expect("it prints a number")
    }
}

fn time(bench: &Bench, ours: Pass, other: Pass) -> Pair {
    bench.in_turn(|_| ours.nanoseconds(), |_| other.nanoseconds())
}

fn count(ours: Pass, other: Pass) -> Pair {
    let [ours, other] = [ours, other].map(|pass| instructions::of_each_turn(&pass.program(), pass.1));
    Pair { ours, other }
}
