//! `name`, `algorithm`, `limit`, `capacity` and `sub_windows`.

use super::{assert_diagnostics, limit};

#[test]
fn a_name_has_only_allowed_characters() {
    assert_diagnostics(NAMES, limit);
}

const NAMES: &str = r#"
name = ""
    2:8 limit 1: name = "": it must be 1 to 64 of a-z 0-9 _ . -

name = "API"
    2:8 limit 1: name = "API": it must be 1 to 64 of a-z 0-9 _ . -

name = "two words"
    2:8 limit 1: name = "two words": it must be 1 to 64 of a-z 0-9 _ . -

name = "käse"
    2:8 limit 1: name = "käse": it must be 1 to 64 of a-z 0-9 _ . -

name = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    2:8 limit 1: name = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa": it must be 1 to 64 of a-z 0-9 _ . -

name = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    nothing

name = 7
    2:8 limit 1: name = 7: it must be text in quotes

name = ["api"]
    2:8 limit 1: name = ["api"]: it must be text in quotes
"#;

#[test]
fn an_algorithm_is_one_of_six() {
    assert_diagnostics(ALGORITHMS, limit);
}

const ALGORITHMS: &str = r#"
algorithm = "gcra"
    3:13 limit "api": algorithm = "gcra": it must be one of token_bucket, leaky_bucket, fixed_window, sliding_log, sliding_counter, concurrency

algorithm = "Token_Bucket"
    3:13 limit "api": algorithm = "Token_Bucket": it must be one of token_bucket, leaky_bucket, fixed_window, sliding_log, sliding_counter, concurrency: did you mean token_bucket?

algorithm = "token bucket"
    3:13 limit "api": algorithm = "token bucket": it must be one of token_bucket, leaky_bucket, fixed_window, sliding_log, sliding_counter, concurrency: did you mean token_bucket?

algorithm = "sliding_lock"
    3:13 limit "api": algorithm = "sliding_lock": it must be one of token_bucket, leaky_bucket, fixed_window, sliding_log, sliding_counter, concurrency: did you mean sliding_log?

algorithm = ""
    3:13 limit "api": algorithm = "": it must be one of token_bucket, leaky_bucket, fixed_window, sliding_log, sliding_counter, concurrency

algorithm = true
    3:13 limit "api": algorithm = true: it must be one of token_bucket, leaky_bucket, fixed_window, sliding_log, sliding_counter, concurrency

algorithm = ["token_bucket"]
    3:13 limit "api": algorithm = ["token_bucket"]: it must be one of token_bucket, leaky_bucket, fixed_window, sliding_log, sliding_counter, concurrency
"#;

#[test]
fn a_number_is_whole_and_in_range() {
    assert_diagnostics(NUMBERS, limit);
}

const NUMBERS: &str = r#"
limit = 0
    4:9 limit "api": limit = 0: it must be a whole number from 1 to 4294967295

limit = -1
    4:9 limit "api": limit = -1: it must be a whole number from 1 to 4294967295

limit = +10
    nothing

limit = 1_000
    nothing

limit = 0x10
    nothing

limit = 1.5
    4:9 limit "api": limit = 1.5: it must be a whole number from 1 to 4294967295

limit = 1e3
    4:9 limit "api": limit = 1e3: it must be a whole number from 1 to 4294967295

limit = "10"
    4:9 limit "api": limit = "10": it must be a whole number from 1 to 4294967295

limit = 2026-01-01
    4:9 limit "api": limit = 2026-01-01: it must be a whole number from 1 to 4294967295

limit = 4294967296
    4:9 limit "api": limit = 4294967296: it must be a whole number from 1 to 4294967295

limit = 99999999999999999999999999
    4:9 limit "api": limit = 99999999999999999999999999: it must be a whole number from 1 to 4294967295

capacity = 0
    7:12 limit "api": capacity = 0: it must be a whole number from 1 to 4294967295

capacity = "10"
    7:12 limit "api": capacity = "10": it must be a whole number from 1 to 4294967295

capacity = 4294967296
    7:12 limit "api": capacity = 4294967296: it must be a whole number from 1 to 4294967295

algorithm = "fixed_window"
limit = 4294967295
    nothing

algorithm = "sliding_log"
limit = 65536
    nothing

algorithm = "sliding_log"
limit = 65537
    4:9 limit "api": limit = 65537: it must be from 1 to 65536, since a log keeps an entry for each (a sliding_counter does not)

algorithm = "sliding_counter"
sub_windows = 64
    nothing

algorithm = "sliding_counter"
sub_windows = 0
    7:15 limit "api": sub_windows = 0: it must be a whole number from 1 to 64

algorithm = "sliding_counter"
sub_windows = 65
    7:15 limit "api": sub_windows = 65: it must be a whole number from 1 to 64

algorithm = "sliding_counter"
sub_windows = 7
    7:15 limit "api": sub_windows = 7: it must divide the window of 60000000 microseconds without a rest

algorithm = "sliding_counter"
sub_windows = "6"
    7:15 limit "api": sub_windows = "6": it must be a whole number from 1 to 64
"#;

#[test]
fn a_capacity_is_bounded_by_the_arithmetic() {
    assert_diagnostics(CAPACITIES, limit);
}

const CAPACITIES: &str = r#"
window = "365d"
capacity = 4294967295
    7:12 limit "api": capacity = 4294967295: it must be at most 1428 for a limit of 10 per 31536000s (it is the limit unless it is set)

window = "365d"
limit = 4294967295
    4:9 limit "api": capacity = 4294967295: it must be at most 2142 for a limit of 4294967295 per 31536000s (it is the limit unless it is set)

algorithm = "leaky_bucket"
window = "3650d"
limit = 1
capacity = 100
    7:12 limit "api": capacity = 100: it must be at most 14 for a limit of 1 per 315360000s (it is the limit unless it is set)

window = "3650d"
limit = 999983
    4:9 limit "api": capacity = 999983: it must be at most 14 for a limit of 999983 per 315360000s (it is the limit unless it is set)
"#;

#[test]
fn a_concurrency_limit_has_settings_of_its_own() {
    assert_diagnostics(CONCURRENCY, |line| {
        format!("[[limit]]\nname = \"api\"\nalgorithm = \"concurrency\"\nlimit = 20\nkey = \"global\"\n{line}\n")
    });
}

const CONCURRENCY: &str = r#"
time_to_live = "30s"
    nothing

retry_after = "2500ms"
    nothing

status = 503
    nothing

window = "1m"
    6:10 limit "api": window is for a token_bucket or a leaky_bucket or a fixed_window or a sliding_log or a sliding_counter, and this is a concurrency

capacity = 5
    6:12 limit "api": capacity is for a token_bucket or a leaky_bucket, and this is a concurrency

time_to_live = "10ms"
    6:16 limit "api": time_to_live = "10ms": it must be from 1s to 1d

retry_after = "2d"
    6:15 limit "api": retry_after = "2d": it must be longer than 0 and at most 1d

status = 404
    6:10 limit "api": status = 404: it must be 429 or 503

lease = "100ms"
    6:9 limit "api": lease has no effect on a concurrency limit: remove it
"#;
