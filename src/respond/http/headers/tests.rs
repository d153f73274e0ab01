//! Tests of `headers`.

use super::*;

#[test]
fn a_number_is_formatted_like_display() {
    for value in [0, 9, 10, 99, 100, 999, 1000, 1001, 9_999_999_999, u64::MAX] {
        assert_eq!(number(value), value.to_string());
    }
}

#[test]
fn a_duration_has_the_units_that_it_needs() {
    for (micros, text) in [
        (0, "0s"),
        (1, "1ms"),
        (19_001, "20ms"),
        (999_001, "1s"),
        (10 * SECOND, "10s"),
        (8_640_000, "8.64s"),
        (60 * SECOND, "1m0s"),
        (90_951_000, "1m30.951s"),
        (360 * SECOND, "6m0s"),
        (3600 * SECOND, "1h0m0s"),
        (86_400 * SECOND + 500_000, "24h0m0.5s"),
    ] {
        assert_eq!(duration(micros), text);
    }
}
