//! Any text parses as rules, or fails with diagnostics at positions in the text.

use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};
use tollgate::RuleSet;

use support::property::holds;

/// A file with every field.
const FILE: &str = r#"
[[limit]]
name = "global"
algorithm = "sliding_counter"
limit = 10000
window = "1m"
sub_windows = 6
key = "global"

[[limit]]
name = "user"
algorithm = "token_bucket"
limit = 100
window = "1m"
capacity = 100
key = ["header:x-user-id", "ip", "method", "apikey:authorization", "query:tenant", "cookie:größe"]
default = "anonymous"
plan = "header:x-plan"
plans.free = { limit = 10, capacity = 10 }
plans.pro = { limit = 1000, capacity = 1000 }

[[limit]]
name = "expensive"
algorithm = "leaky_bucket"
limit = 10
window = "1m"
capacity = 10
queue = true
max_wait = "30s"
path = "/api/expensive/{*rest}"
methods = ["GET", "POST"]
key = ["header:x-user-id", "route"]
cost = "header:x-cost"
shadow = true

[[limit]]
name = "daily"
algorithm = "fixed_window"
limit = 0xff
window = "1d"
anchored = true
key = "ip"
cost = 2

[[exempt]]
methods = ["OPTIONS"]
[[exempt]]
path = "/healthz"
[[exempt]]
networks = ["10.0.0.0/8", "fd00::/8"]

[trust]
proxies = ["127.0.0.1/32"]
forwarded = "x-forwarded-for"
headers = ["x-plan", "x-cost"]
"#;

/// Replacements for parts of the file.
const PIECES: [&str; 40] = [
    "",
    " ",
    "\n",
    "\r\n",
    "\r",
    "\t",
    "\0",
    "\u{feff}",
    "é",
    "\u{1f6a6}",
    "=",
    ".",
    ",",
    "#",
    "\"",
    "'",
    "\"\"\"",
    "'''",
    "\\",
    "\\u0000",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "{*",
    "[[limit]]",
    "[limit]",
    "[trust]",
    "limit",
    "plans",
    "name",
    "0",
    "-1",
    "1e9",
    "nan",
    "2026-01-01",
    "4294967296",
    "99999999999999999999999999d",
];

/// Copies a line or a character to another position, or replaces it.
fn changed(mut text: String, (from, to, piece, lines): (Index, Index, &str, bool)) -> String {
    let mut places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    if lines {
        places.retain(|at| text[..*at].ends_with('\n'));
    }
    if places.is_empty() {
        return piece.to_owned();
    }
    let (from, to) = (from.index(places.len()), to.index(places.len()));
    let end = places.get(from + 1).copied().unwrap_or(text.len());
    let taken = text[places[from]..end].to_owned();
    match piece {
        "" => text.insert_str(places[to], &taken),
        _ => text.replace_range(places[from]..end, piece),
    }
    text
}

/// The text parses, or each diagnostic is at a position in the text or at the end of a line.
fn assert_positions(text: &str) {
    let Err(error) = RuleSet::parse(text) else {
        return;
    };
    let lines: Vec<&str> = text.split('\n').collect();
    let places: Vec<_> = error
        .diagnostics()
        .iter()
        .map(|diagnostic| (diagnostic.line(), diagnostic.column()))
        .collect();
    assert!(!places.is_empty(), "{text:?}");
    assert!(places.is_sorted(), "{places:?} of {text:?}");
    for (line, column) in places {
        let length = lines.get(line.wrapping_sub(1)).map(|line| line.chars().count());
        assert!(
            length.is_some_and(|length| (1..=length + 1).contains(&column)),
            "{line}:{column} of {text:?}"
        );
    }
    // One line per diagnostic, at most fifty, and then the number of further ones.
    let lines = error.diagnostics().len().min(51);
    assert_eq!(error.to_string().lines().count(), lines, "{text:?}");
}

const FAILURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/rules/regressions.txt");

fn assert_positions_of_all(texts: &impl Strategy<Value = String>) {
    holds(1000, FAILURES, texts, async |_, text| assert_positions(&text));
}

#[test]
fn the_unchanged_file_is_valid() {
    assert_eq!(RuleSet::parse(FILE).unwrap().limits().len(), 4);
}

#[test]
fn a_mutated_file_parses_or_fails_with_positions() {
    let change = (any::<Index>(), any::<Index>(), select(&PIECES[..]), any::<bool>());
    let changes = vec(change, 1..8);
    assert_positions_of_all(&changes.prop_map(|changes| changes.into_iter().fold(FILE.to_owned(), changed)));
}

#[test]
fn a_truncated_file_parses_or_fails_with_positions() {
    for (end, _) in FILE.char_indices() {
        assert_positions(&FILE[..end]);
        assert_positions(&FILE[end..]);
    }
}

#[test]
fn any_text_parses_or_fails_with_positions() {
    assert_positions_of_all(&any::<String>());
    assert_positions_of_all(&vec(any::<u8>(), 0..200).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
    assert_positions_of_all(&vec(select(&PIECES[..]), 0..30).prop_map(|pieces| pieces.concat()));
}

#[test]
fn any_nesting_depth_parses_or_fails_with_positions() {
    for depth in [10, 1000, 100_000] {
        for (before, down, at_the_bottom, up) in [
            ("", "[", "", ""),
            ("a = ", "[", "", ""),
            ("a = ", "[", "1", "]"),
            ("a = ", "{a = ", "1", "}"),
            ("", "a.", "a = 1", ""),
            ("[", "a.", "a]", ""),
            ("[[limit]]\n", "plans.", "pro = 1", ""),
        ] {
            let (down, up) = (down.repeat(depth), up.repeat(depth));
            assert_positions(&format!("{before}{down}{at_the_bottom}{up}"));
        }
    }
}
