//! The five algorithms and their settings: a limit of a file is the limit that the same words make in code.

use std::time::Duration;

use tollgate::{
    Algorithm, FixedWindow, LeakyBucket, Limit, Quota, Rule, RuleSet, SlidingCounter, SlidingLog, TokenBucket,
};

/// The limit of a file that has this one.
#[track_caller]
fn limit(settings: &str) -> Limit {
    let file = format!("[[limit]]\nname = \"api\"\nkey = \"global\"\n{settings}");
    let rules = RuleSet::parse(&file).unwrap_or_else(|error| panic!("{error}\n{file}"));
    let [limit] = rules.limits().try_into().unwrap();
    limit
}

#[track_caller]
fn is(settings: &str, algorithm: impl Algorithm) {
    assert_eq!(limit(settings), Limit::new("api", algorithm), "{settings}");
}

const TEN: Quota = Quota::per_minute(10);

#[test]
fn each_word_is_an_algorithm() {
    let words: [(&str, Rule); 5] = [
        ("token_bucket", TokenBucket::new(TEN).rule()),
        ("leaky_bucket", LeakyBucket::new(TEN).rule()),
        ("fixed_window", FixedWindow::new(TEN).rule()),
        ("sliding_log", SlidingLog::new(TEN).rule()),
        ("sliding_counter", SlidingCounter::new(TEN).rule()),
    ];
    for (word, rule) in words {
        is(&format!("algorithm = \"{word}\"\nlimit = 10\nwindow = \"1m\""), rule);
    }
}

#[test]
fn each_unit_is_a_time() {
    for (window, micros) in [
        ("1us", 1),
        ("250us", 250),
        ("500ms", 500_000),
        ("10s", 10_000_000),
        ("010s", 10_000_000),
        ("1m", 60_000_000),
        ("90m", 5_400_000_000),
        ("1h", 3_600_000_000),
        ("1d", 86_400_000_000),
        ("3650d", 315_360_000_000_000),
    ] {
        let quota = Quota::new(7, Duration::from_micros(micros));
        let settings = format!("algorithm = \"fixed_window\"\nlimit = 7\nwindow = \"{window}\"");
        is(&settings, FixedWindow::new(quota));
        assert_eq!(limit(&settings).to_string(), format!("fixed_window:api:{micros}"));
    }
}

#[test]
fn a_number_can_be_written_in_every_way_of_toml() {
    for (written, number) in [
        ("1", 1),
        ("+10", 10),
        ("10_000", 10_000),
        ("0xff", 255),
        ("0xFF_FF", 65_535),
        ("0o17", 15),
        ("0b101", 5),
        ("4294967295", u32::MAX),
    ] {
        let settings = format!("algorithm = \"fixed_window\"\nlimit = {written}\nwindow = \"1m\"");
        is(&settings, FixedWindow::new(Quota::per_minute(number)));
    }
}

#[test]
fn a_bucket_holds_its_limit_unless_it_has_a_capacity() {
    let token = "algorithm = \"token_bucket\"\nlimit = 10\nwindow = \"1m\"\n";
    let leaky = "algorithm = \"leaky_bucket\"\nlimit = 10\nwindow = \"1m\"\n";
    is(token, TokenBucket::new(TEN).capacity(10));
    is(leaky, LeakyBucket::new(TEN).capacity(10));
    for capacity in [1, 9, 25] {
        is(
            &format!("{token}capacity = {capacity}"),
            TokenBucket::new(TEN).capacity(capacity),
        );
        is(
            &format!("{leaky}capacity = {capacity}"),
            LeakyBucket::new(TEN).capacity(capacity),
        );
    }
}

#[test]
fn a_leaky_bucket_queues_unless_it_polices() {
    let leaky = "algorithm = \"leaky_bucket\"\nlimit = 10\nwindow = \"1m\"\n";
    let bucket = LeakyBucket::new(TEN);
    for (more, rule) in [
        ("", bucket),
        ("queue = true", bucket),
        ("queue = false", bucket.policing()),
        ("max_wait = \"30s\"", bucket.max_wait(Duration::from_secs(30))),
        (
            "max_wait = \"1500ms\"\nqueue = true",
            bucket.max_wait(Duration::from_millis(1500)),
        ),
        ("queue = false\ncapacity = 3", bucket.capacity(3).policing()),
    ] {
        is(&format!("{leaky}{more}"), rule);
    }
}

#[test]
fn a_window_is_anchored_only_if_it_says_so() {
    let fixed = "algorithm = \"fixed_window\"\nlimit = 10\nwindow = \"1m\"\n";
    is(&format!("{fixed}anchored = false"), FixedWindow::new(TEN));
    is(&format!("{fixed}anchored = true"), FixedWindow::new(TEN).anchored());
}

#[test]
fn a_counter_has_one_sub_window_unless_it_says_more() {
    let counter = "algorithm = \"sliding_counter\"\nlimit = 10\nwindow = \"1m\"\n";
    for buckets in [1, 6, 64] {
        is(
            &format!("{counter}buckets = {buckets}"),
            SlidingCounter::new(TEN).buckets(buckets),
        );
    }
}
