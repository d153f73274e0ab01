//! The algorithms and their settings: a limit in a file equals the same limit in code.

use std::{collections::BTreeSet, time::Duration};

use support::algorithms::{assert_has_each_algorithm, each_algorithm};
use tollgate::{
    Algorithm, AnyAlgorithm, FixedWindow, LeakyBucket, Limit, Quota, RuleSet, SlidingCounter, SlidingLog, TokenBucket,
};

/// The only limit of a file with these settings.
#[track_caller]
fn limit(settings: &str) -> Limit {
    let file = format!("[[limit]]\nname = \"api\"\nkey = \"global\"\n{settings}");
    let rules = RuleSet::parse(&file).unwrap_or_else(|error| panic!("{error}\n{file}"));
    let [limit] = rules.limits().try_into().unwrap();
    limit
}

#[track_caller]
fn assert_limit(settings: &str, algorithm: impl Algorithm) {
    assert_eq!(limit(settings), Limit::new("api", algorithm), "{settings}");
}

const TEN: Quota = Quota::per_minute(10);

#[test]
fn each_name_of_an_algorithm() {
    let algorithms: [(&str, AnyAlgorithm); 5] = [
        ("token_bucket", TokenBucket::new(TEN).to_any()),
        ("leaky_bucket", LeakyBucket::new(TEN).to_any()),
        ("fixed_window", FixedWindow::new(TEN).to_any()),
        ("sliding_log", SlidingLog::new(TEN).to_any()),
        ("sliding_counter", SlidingCounter::new(TEN).to_any()),
    ];
    assert_has_each_algorithm(algorithms.iter().map(|(name, _)| *name));
    for (name, algorithm) in algorithms {
        assert_limit(
            &format!("algorithm = \"{name}\"\nlimit = 10\nwindow = \"1m\""),
            algorithm,
        );
    }
}

/// Many tests draw from this list.
#[test]
fn each_name_is_in_the_list_of_the_tests() {
    let error = RuleSet::parse("[[limit]]\nname = \"api\"\nalgorithm = \"?\"").unwrap_err();
    let text = error.to_string();
    let (_, names) = text.split_once("it must be one of ").unwrap();
    let names: BTreeSet<&str> = names.lines().next().unwrap().split(", ").collect();
    let mut listed: BTreeSet<&str> = each_algorithm(TEN).iter().map(AnyAlgorithm::name).collect();
    listed.insert("concurrency");
    assert_eq!(listed, names);
}

#[test]
fn each_unit_of_time() {
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
        assert_limit(&settings, FixedWindow::new(quota));
        assert_eq!(limit(&settings).to_string(), format!("fixed_window:api:{micros}"));
    }
}

#[test]
fn a_number_can_have_every_toml_notation() {
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
        assert_limit(&settings, FixedWindow::new(Quota::per_minute(number)));
    }
}

#[test]
fn a_bucket_holds_its_limit_unless_it_has_a_capacity() {
    let token = "algorithm = \"token_bucket\"\nlimit = 10\nwindow = \"1m\"\n";
    let leaky = "algorithm = \"leaky_bucket\"\nlimit = 10\nwindow = \"1m\"\n";
    assert_limit(token, TokenBucket::new(TEN).capacity(10));
    assert_limit(leaky, LeakyBucket::new(TEN).capacity(10));
    for capacity in [1, 9, 25] {
        assert_limit(
            &format!("{token}capacity = {capacity}"),
            TokenBucket::new(TEN).capacity(capacity),
        );
        assert_limit(
            &format!("{leaky}capacity = {capacity}"),
            LeakyBucket::new(TEN).capacity(capacity),
        );
    }
}

/// What refills during a lease is not in the shared bucket, and a log covers the lease too.
#[test]
fn a_lease_makes_buckets_smaller_and_logs_longer() {
    let leased = |algorithm: &str| format!("algorithm = \"{algorithm}\"\nlimit = 10\nwindow = \"1m\"\nlease = \"7s\"");
    let algorithm = |name: &str| *limit(&leased(name)).algorithm();
    assert_eq!(algorithm("token_bucket"), TokenBucket::new(TEN).capacity(8).to_any());
    let longer = Quota::new(10, Duration::from_secs(67));
    assert_eq!(algorithm("sliding_log"), SlidingLog::new(longer).to_any());
    assert_eq!(algorithm("fixed_window"), FixedWindow::new(TEN).to_any());
    assert_eq!(algorithm("sliding_counter"), SlidingCounter::new(TEN).to_any());
    assert_ne!(limit(&leased("fixed_window")), Limit::new("api", FixedWindow::new(TEN)));
}

#[test]
fn a_leaky_bucket_queues_unless_it_polices() {
    let leaky = "algorithm = \"leaky_bucket\"\nlimit = 10\nwindow = \"1m\"\n";
    let bucket = LeakyBucket::new(TEN);
    for (more, algorithm) in [
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
        assert_limit(&format!("{leaky}{more}"), algorithm);
    }
}

#[test]
fn a_window_is_not_anchored_by_default() {
    let fixed = "algorithm = \"fixed_window\"\nlimit = 10\nwindow = \"1m\"\n";
    assert_limit(&format!("{fixed}anchored = false"), FixedWindow::new(TEN));
    assert_limit(&format!("{fixed}anchored = true"), FixedWindow::new(TEN).anchored());
}

#[test]
fn a_counter_can_have_several_sub_windows() {
    let counter = "algorithm = \"sliding_counter\"\nlimit = 10\nwindow = \"1m\"\n";
    for sub_windows in [1, 6, 64] {
        assert_limit(
            &format!("{counter}sub_windows = {sub_windows}"),
            SlidingCounter::new(TEN).sub_windows(sub_windows),
        );
    }
}
