//! Values that cannot be built: the error, and the panic with the same message.

use std::time::Duration;

use support::constructors::{assert_invalid, assert_valid};
use tollgate::{
    Algorithm, Charge, Charges, FixedWindow, Key, LeakyBucket, Limit, MemoryStore, Quota, SlidingCounter, SlidingLog,
    TokenBucket,
};

const TEN_YEARS: Duration = Duration::from_secs(315_360_000);
const NANOSECOND: Duration = Duration::from_nanos(1);

#[test]
fn a_limit_of_zero() {
    let text = "limit = 0: it must be from 1 to 4294967295";
    assert_invalid(Quota::try_per_second(0), || Quota::per_second(0), text);
    assert_invalid(Quota::try_per_minute(0), || Quota::per_minute(0), text);
    assert_invalid(Quota::try_per_hour(0), || Quota::per_hour(0), text);
    assert_invalid(Quota::try_per_day(0), || Quota::per_day(0), text);
    assert_invalid(Quota::try_new(0, TEN_YEARS), || Quota::new(0, TEN_YEARS), text);
    for limit in [1, u32::MAX] {
        assert_valid(Quota::try_per_second(limit), || Quota::per_second(limit));
        assert_valid(Quota::try_per_minute(limit), || Quota::per_minute(limit));
        assert_valid(Quota::try_per_hour(limit), || Quota::per_hour(limit));
        assert_valid(Quota::try_per_day(limit), || Quota::per_day(limit));
    }
}

#[test]
fn a_window_out_of_range_or_between_microseconds() {
    let cases = [
        (Duration::ZERO, "0ns"),
        (NANOSECOND, "1ns"),
        (Duration::from_nanos(1500), "1.5µs"),
        (TEN_YEARS + NANOSECOND, "315360000.000000001s"),
        (Duration::MAX, "18446744073709551615.999999999s"),
    ];
    for (window, value) in cases {
        let text =
            format!("window = {value}: it must be a whole number of microseconds, from 1 to 10 years (315360000 s)");
        assert_invalid(Quota::try_new(1, window), || Quota::new(1, window), &text);
    }
    for window in [Duration::from_micros(1), TEN_YEARS] {
        assert_valid(Quota::try_new(1, window), || Quota::new(1, window));
        assert_eq!(Quota::new(1, window).window(), window);
    }
}

#[test]
fn a_lease_shorter_than_a_millisecond_or_longer_than_a_minute() {
    let limit = Limit::new("all", SlidingCounter::new(Quota::per_minute(1)));
    let cases = [
        (Duration::ZERO, "0ns"),
        (Duration::from_micros(999), "999µs"),
        (Duration::from_secs(60) + NANOSECOND, "60.000000001s"),
    ];
    for (lease, value) in cases {
        let text = format!("lease = {value}: it must be from 1ms to 1m");
        assert_invalid(limit.try_lease(lease), || limit.lease(lease), &text);
    }
    for lease in [Duration::from_millis(1), Duration::from_secs(60)] {
        assert_valid(limit.try_lease(lease), || limit.lease(lease));
    }
}

/// Asserts that both buckets reject the capacity with the same message.
#[track_caller]
fn assert_capacity_invalid(quota: Quota, capacity: u32, must: &str) {
    let (token, leaky) = (TokenBucket::new(quota), LeakyBucket::new(quota));
    let text = format!("capacity = {capacity}: it must {must}");
    assert_invalid(token.try_capacity(capacity), || token.capacity(capacity), &text);
    assert_invalid(leaky.try_capacity(capacity), || leaky.capacity(capacity), &text);
}

#[track_caller]
fn assert_capacity_valid(quota: Quota, capacity: u32) {
    let (token, leaky) = (TokenBucket::new(quota), LeakyBucket::new(quota));
    assert_valid(token.try_capacity(capacity), || token.capacity(capacity));
    assert_valid(leaky.try_capacity(capacity), || leaky.capacity(capacity));
    let buckets = [token.capacity(capacity).to_any(), leaky.capacity(capacity).to_any()];
    assert_eq!(buckets.map(|bucket| bucket.capacity()), [capacity; 2]);
}

#[test]
fn a_capacity_of_zero() {
    assert_capacity_invalid(Quota::per_second(1), 0, "be from 1 to 4294967295");
    assert_capacity_valid(Quota::per_second(1), 1);
}

#[test]
fn a_capacity_too_large_to_be_exact() {
    let ten_years = |limit| Quota::new(limit, TEN_YEARS);
    let cases = [
        (Quota::per_minute(7), 75_059_993, "7 per 60s"),
        (Quota::per_hour(1000), 1_250_999_896, "1000 per 3600s"),
        (Quota::per_day(1), 52_124, "1 per 86400s"),
        (Quota::per_day(49_999), 52_124, "49999 per 86400s"),
        (ten_years(1), 14, "1 per 315360000s"),
        (ten_years(14), 28, "14 per 315360000s"),
    ];
    for (quota, largest, limit) in cases {
        let must = format!("be at most {largest} for a limit of {limit} (it is the limit unless it is set)");
        assert_capacity_valid(quota, largest);
        assert_capacity_invalid(quota, largest + 1, &must);
        assert_capacity_invalid(quota, u32::MAX, &must);
    }
    assert_capacity_valid(Quota::per_second(1), u32::MAX);
}

#[test]
fn a_limit_too_large_as_the_capacity_of_a_bucket() {
    let ten_years = |limit| Quota::new(limit, TEN_YEARS);
    let cases = [
        (Quota::per_day(1_000_003), 52_124, "1000003 per 86400s"),
        (ten_years(u32::MAX), 214, "4294967295 per 315360000s"),
        (ten_years(17), 14, "17 per 315360000s"),
    ];
    for (quota, largest, limit) in cases {
        let must = format!("be at most {largest} for a limit of {limit} (it is the limit unless it is set)");
        let text = format!("capacity = {}: it must {must}", quota.limit());
        assert_invalid(TokenBucket::try_new(quota), || TokenBucket::new(quota), &text);
        assert_invalid(LeakyBucket::try_new(quota), || LeakyBucket::new(quota), &text);
        let (token, leaky) = (TokenBucket::try_with_capacity, LeakyBucket::try_with_capacity);
        assert_valid(token(quota, largest), || TokenBucket::with_capacity(quota, largest));
        assert_valid(leaky(quota, largest), || LeakyBucket::with_capacity(quota, largest));
    }
    for quota in [Quota::per_day(1_000_000), ten_years(14), Quota::per_second(u32::MAX)] {
        assert_valid(TokenBucket::try_new(quota), || TokenBucket::new(quota));
        assert_valid(LeakyBucket::try_new(quota), || LeakyBucket::new(quota));
    }
}

#[test]
fn a_limit_too_large_for_a_log() {
    let must = "be from 1 to 65536, since a log keeps an entry for each (a sliding_counter does not)";
    for limit in [65_537, u32::MAX] {
        let (quota, text) = (Quota::per_day(limit), format!("limit = {limit}: it must {must}"));
        assert_invalid(SlidingLog::try_new(quota), || SlidingLog::new(quota), &text);
    }
    let quota = Quota::per_day(65_536);
    assert_valid(SlidingLog::try_new(quota), || SlidingLog::new(quota));
}

#[test]
fn sub_windows_out_of_range_or_uneven() {
    let counter = |micros| SlidingCounter::new(Quota::new(1, Duration::from_micros(micros)));
    let cases = [
        (60_000_000, 0, "be from 1 to 64"),
        (65, 65, "be from 1 to 64"),
        (60_000_000, u32::MAX, "be from 1 to 64"),
        (
            60_000_000,
            7,
            "divide the window of 60000000 microseconds without a rest",
        ),
        (2, 4, "divide the window of 2 microseconds without a rest"),
    ];
    for (window, sub_windows, must) in cases {
        let (counter, text) = (counter(window), format!("sub_windows = {sub_windows}: it must {must}"));
        assert_invalid(
            counter.try_sub_windows(sub_windows),
            || counter.sub_windows(sub_windows),
            &text,
        );
    }
    for sub_windows in [1, 64] {
        assert_valid(counter(64).try_sub_windows(sub_windows), || {
            counter(64).sub_windows(sub_windows)
        });
    }
}

#[test]
fn a_max_wait_too_long() {
    let leaky = LeakyBucket::new(Quota::per_second(1));
    let cases = [
        (TEN_YEARS + Duration::from_micros(1), "315360000.000001s"),
        (Duration::MAX, "18446744073709551615.999999999s"),
    ];
    for (wait, value) in cases {
        let text = format!("max_wait = {value}: it must be at most 10 years (315360000 s)");
        assert_invalid(leaky.try_max_wait(wait), || leaky.max_wait(wait), &text);
    }
    for wait in [Duration::ZERO, TEN_YEARS] {
        assert_valid(leaky.try_max_wait(wait), || leaky.max_wait(wait));
    }
}

#[test]
fn an_invalid_name() {
    let window = FixedWindow::new(Quota::per_second(1));
    let long = "a".repeat(65);
    let cases = [
        ("", r#""""#),
        (&long, &format!("{long:?}")),
        ("User", r#""User""#),
        ("a b", r#""a b""#),
        ("a:b", r#""a:b""#),
        ("{a}", r#""{a}""#),
        ("a/b", r#""a/b""#),
        ("a\n", r#""a\n""#),
        ("na\u{ef}ve", "\"na\u{ef}ve\""),
    ];
    for (name, value) in cases {
        let text = format!("name = {value}: it must be 1 to 64 of a-z 0-9 _ . -");
        assert_invalid(Limit::try_new(name, window), || Limit::new(name, window), &text);
    }
    for name in [&long[1..], "a", "0", "_", ".", "-", "az09_.-"] {
        assert_valid(Limit::try_new(name, window), || Limit::new(name, window));
        assert_eq!(Limit::new(name, window).name(), name);
    }
}

#[test]
fn a_store_without_keys() {
    let builder = MemoryStore::builder;
    let text = "max_keys = 0: it must be at least 1";
    assert_invalid(builder().try_max_keys(0), || builder().max_keys(0), text);
    assert!(builder().try_max_keys(1).is_ok());
}

fn charge(name: &str, algorithm: impl Algorithm, key: &'static str) -> Charge {
    Charge::new(Limit::new(name, algorithm), Key::new(key))
}

#[test]
fn a_duplicate_key_in_a_group() {
    let counter = SlidingCounter::new(Quota::per_minute(10));
    let first = charge("user", counter, "k");
    let same = [
        first.clone(),
        charge("user", counter, "k").with_cost(0),
        charge("user", counter.sub_windows(1), "k").shadow(),
        charge("user", SlidingCounter::new(Quota::per_minute(11)), "k"),
    ];
    let mut charges = Charges::from(first);
    for charge in same {
        let error = charges.push(charge).unwrap_err();
        let twice = "the key k is charged twice under the limit sliding_counter:user:60000000:1";
        assert_eq!(
            error.to_string(),
            format!("{twice}: add the costs up, or name the limits apart")
        );
        assert_eq!(charges.len(), 1);
    }
}

#[test]
fn different_keys_in_a_group() {
    let counter = SlidingCounter::new(Quota::per_minute(10));
    let fixed = FixedWindow::new(Quota::per_minute(10));
    let different = [
        charge("user", counter, "k"),
        charge("user", counter, "K"),
        charge("user", counter, ""),
        charge("users", counter, "k"),
        charge("user", counter.sub_windows(2), "k"),
        charge("user", SlidingCounter::new(Quota::per_hour(10)), "k"),
        charge("user", fixed, "k"),
        charge("user", fixed.anchored(), "k"),
        charge("user", fixed, "anchored:k"),
    ];
    let mut charges = Charges::new();
    for (before, charge) in different.into_iter().enumerate() {
        assert_eq!(charges.push(charge), Ok(()));
        assert_eq!(charges.len(), before + 1);
    }
}
