//! How much memory a key takes, as a process of its own sees it.

use std::process::Command;

use crate::{
    bench::{Bench, Pair, median},
    sibling::sibling,
};

const KEYS: usize = 1_000_000;

pub fn bytes_a_key(bench: &Bench) -> Pair {
    // Memory has fewer moods than time.
    let rounds = bench.rounds.div_ceil(3);
    let bytes = |side| median((0..rounds).map(|_| grown(side) / KEYS as f64).collect());
    Pair {
        ours: bytes("ours"),
        other: bytes("governor"),
    }
}

/// By how many bytes a fresh process grows.
fn grown(side: &str) -> f64 {
    let child = Command::new(sibling("hold")).args([side, &KEYS.to_string()]).output();
    let output = child.expect("hold is built together with this program");
    assert!(
        output.status.success(),
        "hold: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let bytes = String::from_utf8_lossy(&output.stdout);
    bytes.trim().parse().expect("hold prints a number")
}
