//! The memory per key, measured in a fresh process.

use std::process::Command;

use crate::{
    runner::{Pair, Runner, median},
    subprocess::sibling_program,
};

const KEYS: usize = 1_000_000;

pub fn bytes_per_key(runner: &Runner) -> Pair {
    // Memory varies less than time.
    let rounds = runner.rounds.div_ceil(3);
    let bytes = |side| median((0..rounds).map(|_| growth(side) / KEYS as f64).collect());
    Pair {
        ours: bytes("ours"),
        other: bytes("governor"),
    }
}

/// The growth of a fresh process, in bytes.
fn growth(side: &str) -> f64 {
    let child = Command::new(sibling_program("key_memory"))
        .args([side, &KEYS.to_string()])
        .output();
    let output = child.expect("key_memory is built together with this program");
    assert!(
        output.status.success(),
        "key_memory: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let bytes = String::from_utf8_lossy(&output.stdout);
    bytes.trim().parse().expect("key_memory prints a number")
}
