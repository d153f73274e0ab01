//! The README is short, and its measurements are those of the recorded benchmarks.

use std::fs;

use support::project::root;

const MAX_LINES: usize = 150;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The cells of the rows of tables.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = text
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.map(|row| row.split('|').map(str::trim).collect())
}

/// The digits of a number that has thousands separators, or a unit.
fn digits(number: &str) -> String {
    let number = number.replace(',', "");
    number
        .chars()
        .take_while(|char| char.is_ascii_digit() || *char == '.')
        .collect()
}

#[test]
fn the_readme_is_short() {
    let lines = read("README.md").lines().count();
    assert!(
        lines <= MAX_LINES,
        "README.md has {lines} lines, at most {MAX_LINES} are allowed"
    );
}

/// Rows like `| what | ours | peer: theirs | scripts/bench name |`.
#[test]
fn benchmarks_in_the_readme_are_the_recorded_ones() {
    let (readme, results) = (read("README.md"), read("benches/RESULTS.md"));
    let mut count = 0;
    for row in rows(&readme) {
        let [.., ours, theirs, command] = &*row else { continue };
        let Some(name) = command.strip_prefix("`scripts/bench ") else {
            continue;
        };
        let name = name.trim_end_matches('`');
        let recorded = rows(&results).find(|row| row[0] == name);
        let recorded = recorded.unwrap_or_else(|| panic!("{name} is not in benches/RESULTS.md"));
        let (peer, theirs) = theirs.split_once(": ").expect("a peer and its number");
        assert_eq!(
            [&digits(ours), peer, &digits(theirs)],
            [&digits(recorded[1]), recorded[2], &digits(recorded[3])]
        );
        count += 1;
    }
    assert_eq!(count, 3, "rows with a benchmark");
}
