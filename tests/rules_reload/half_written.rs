//! A file that takes a while to write: what is there of it meanwhile is never in force, though it reads as rules.

use std::{
    fs::File,
    io::Write,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use tollgate::RuleSet;
use tracing::Level;

use crate::{
    fixture::{Named, Watched, piece},
    support::patience::until_some,
};

/// What is the same for that long may be taken for the whole.
const SETTLED: Duration = Duration::from_millis(250);
const APART: Duration = Duration::from_millis(60);
const WHOLE: &[Named] = &[("a", 1), ("b", 2), ("c", 3), ("d", 4), ("e", 5), ("f", 6), ("g", 7)];

/// Writes a limit, and a remark or two, and the next limit. Tells for how long the file was the same at most.
fn write_slowly(file: &str) -> Duration {
    let (mut longest, mut before) = (Duration::ZERO, Instant::now());
    let mut file = File::create(file).unwrap();
    let pieces = WHOLE.iter().map(piece);
    for piece in pieces.flat_map(|limit| [limit, "# a remark\n".into(), "# another\n".into()]) {
        let began = Instant::now();
        file.write_all(piece.as_bytes()).unwrap();
        longest = longest.max(before.elapsed());
        before = began;
        thread::sleep(APART);
    }
    longest
}

/// How many limits were in force, one number after the other.
fn witness(rules: &RuleSet, is_over: &AtomicBool) -> Vec<usize> {
    let mut seen = vec![rules.limits().len()];
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(1));
        seen.push(rules.limits().len());
    }
    seen.dedup();
    seen
}

#[test]
fn a_part_of_the_file_is_never_in_force() {
    // On a machine that is too busy to go on writing in time, a part may well be taken for the whole: so once more.
    let (watched, seen) = until_some("it is written in time", || {
        let (watched, is_over) = (Watched::new(), AtomicBool::new(false));
        let (longest, seen) = thread::scope(|scope| {
            let witness = scope.spawn(|| witness(&watched.rules, &is_over));
            let longest = write_slowly(&watched.file);
            watched.follows(WHOLE);
            is_over.store(true, Ordering::Relaxed);
            (longest, witness.join().unwrap())
        });
        (longest < SETTLED).then_some((watched, seen))
    });
    assert_eq!(seen, [1, WHOLE.len()]);
    assert_eq!(watched.says().level, Level::INFO);
}
