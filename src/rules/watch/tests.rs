//! Tests of `watch`.

use super::*;

/// The content that is applied after each poll; `-` for none.
fn applied(polls: &[&str]) -> Vec<String> {
    let content = |text: &str| match text {
        "missing" => Err(text.to_owned()),
        text => Ok(text.to_owned()),
    };
    let mut detector = ChangeDetector::new(content("FIRST"));
    let applied = polls.iter().map(|text| detector.observe(content(text)).cloned());
    applied
        .map(|applied| applied.map_or("-".into(), |applied| applied.unwrap_or_else(|error| error)))
        .collect()
}

#[test]
fn a_partially_written_file_is_never_applied() {
    assert_eq!(
        applied(&["s", "se", "sec", "SECOND", "SECOND", "SECOND"]),
        ["-", "-", "-", "-", "SECOND", "-"]
    );
    // The writer truncates the file first.
    assert_eq!(
        applied(&["", "SECOND", "", "SECOND", "SECOND"]),
        ["-", "-", "-", "-", "SECOND"]
    );
}

#[test]
fn restored_content_is_not_a_change() {
    assert_eq!(applied(&["FIRST", "FIRST", "FIRST"]), ["-"; 3]);
    assert_eq!(applied(&["fir", "FIRST", "FIRST"]), ["-"; 3]);
    assert_eq!(applied(&["missing", "FIRST", "FIRST"]), ["-"; 3]);
}

#[test]
fn an_error_is_applied_once_and_the_recovery_is_a_change() {
    assert_eq!(
        applied(&["missing", "missing", "missing", "FIRST", "FIRST", "missing", "missing"]),
        ["-", "missing", "-", "-", "FIRST", "-", "missing"]
    );
}

#[test]
fn two_polls_take_less_than_a_second() {
    assert!(POLL_INTERVAL * 2 < Duration::from_secs(1));
}
