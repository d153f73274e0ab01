//! `window`, `max_wait` and `lease`, and the settings that not every algorithm has.

use super::{assert_diagnostics, limit};

#[test]
fn a_window_is_a_number_and_a_unit() {
    assert_diagnostics(WINDOWS, limit);
}

const WINDOWS: &str = r#"
window = "60"
    5:10 limit "api": window = "60": it must be a whole number and its unit in quotes, like "10s": the units are us, ms, s, m, h and d

window = 60
    5:10 limit "api": window = 60: it must be a whole number and its unit in quotes, like "10s": the units are us, ms, s, m, h and d

window = "1 m"
    5:10 limit "api": window = "1 m": it must be a whole number and its unit in quotes, like "10s": the units are us, ms, s, m, h and d

window = "1M"
    5:10 limit "api": window = "1M": it must be a whole number and its unit in quotes, like "10s": the units are us, ms, s, m, h and d

window = "1.5h"
    5:10 limit "api": window = "1.5h": it must be a whole number and its unit in quotes, like "10s": the units are us, ms, s, m, h and d

window = "-1s"
    5:10 limit "api": window = "-1s": it must be a whole number and its unit in quotes, like "10s": the units are us, ms, s, m, h and d

window = "m"
    5:10 limit "api": window = "m": it must be a whole number and its unit in quotes, like "10s": the units are us, ms, s, m, h and d

window = ""
    5:10 limit "api": window = "": it must be a whole number and its unit in quotes, like "10s": the units are us, ms, s, m, h and d

window = "1m30s"
    5:10 limit "api": window = "1m30s": it must be a whole number and its unit in quotes, like "10s": the units are us, ms, s, m, h and d

window = "1w"
    5:10 limit "api": window = "1w": it must be a whole number and its unit in quotes, like "10s": the units are us, ms, s, m, h and d

window = "0s"
    5:10 limit "api": window = "0s": it must be from 1us to 3650d

window = "3650d"
    nothing

window = "3651d"
    5:10 limit "api": window = "3651d": it must be from 1us to 3650d

window = "99999999999999999999d"
    5:10 limit "api": window = "99999999999999999999d": it must be from 1us to 3650d

window = 10:00:00
    5:10 limit "api": window = 10:00:00: it must be a whole number and its unit in quotes, like "10s": the units are us, ms, s, m, h and d
"#;

#[test]
fn a_setting_belongs_to_an_algorithm() {
    assert_diagnostics(OWNERS, limit);
}

const OWNERS: &str = r#"
algorithm = "fixed_window"
capacity = 5
    7:12 limit "api": capacity is for a token_bucket or a leaky_bucket, and this is a fixed_window

algorithm = "sliding_log"
capacity = 5
    7:12 limit "api": capacity is for a token_bucket or a leaky_bucket, and this is a sliding_log

algorithm = "sliding_counter"
capacity = 5
    7:12 limit "api": capacity is for a token_bucket or a leaky_bucket, and this is a sliding_counter

queue = true
    7:9 limit "api": queue is for a leaky_bucket, and this is a token_bucket

algorithm = "fixed_window"
queue = false
    7:9 limit "api": queue is for a leaky_bucket, and this is a fixed_window

max_wait = "1s"
    7:12 limit "api": max_wait is for a leaky_bucket, and this is a token_bucket

algorithm = "sliding_log"
max_wait = "1s"
    7:12 limit "api": max_wait is for a leaky_bucket, and this is a sliding_log

anchored = true
    7:12 limit "api": anchored is for a fixed_window, and this is a token_bucket

algorithm = "sliding_counter"
anchored = false
    7:12 limit "api": anchored is for a fixed_window, and this is a sliding_counter

sub_windows = 6
    7:15 limit "api": sub_windows is for a sliding_counter, and this is a token_bucket

algorithm = "sliding_log"
sub_windows = 6
anchored = true
queue = true
    7:15 limit "api": sub_windows is for a sliding_counter, and this is a sliding_log
    8:12 limit "api": anchored is for a fixed_window, and this is a sliding_log
    9:9 limit "api": queue is for a leaky_bucket, and this is a sliding_log
"#;

#[test]
fn queue_max_wait_anchored_and_shadow() {
    assert_diagnostics(QUEUES, limit);
}

const QUEUES: &str = r#"
algorithm = "leaky_bucket"
queue = "yes"
    7:9 limit "api": queue = "yes": it must be true or false

algorithm = "leaky_bucket"
queue = 1
    7:9 limit "api": queue = 1: it must be true or false

algorithm = "leaky_bucket"
max_wait = 30
    7:12 limit "api": max_wait = 30: it must be a whole number and its unit in quotes, like "10s": the units are us, ms, s, m, h and d

algorithm = "leaky_bucket"
max_wait = "soon"
    7:12 limit "api": max_wait = "soon": it must be a whole number and its unit in quotes, like "10s": the units are us, ms, s, m, h and d

algorithm = "leaky_bucket"
max_wait = "3650d"
    nothing

algorithm = "leaky_bucket"
max_wait = "3651d"
    7:12 limit "api": max_wait = "3651d": it must be at most 10 years (315360000 s)

algorithm = "leaky_bucket"
max_wait = "0s"
    nothing

algorithm = "leaky_bucket"
queue = false
max_wait = "30s"
    8:12 limit "api": max_wait has no effect with queue = false: remove one of them

algorithm = "fixed_window"
anchored = "true"
    7:12 limit "api": anchored = "true": it must be true or false

shadow = "true"
    7:10 limit "api": shadow = "true": it must be true or false

shadow = 1
    7:10 limit "api": shadow = 1: it must be true or false
"#;

#[test]
fn a_lease_has_a_range_and_an_effect() {
    assert_diagnostics(LEASES, limit);
}

const LEASES: &str = r#"
lease = "1ms"
    nothing

lease = "100"
    7:9 limit "api": lease = "100": it must be a whole number and its unit in quotes, like "10s": the units are us, ms, s, m, h and d

lease = "999us"
    7:9 limit "api": lease = "999us": it must be from 1ms to 1m

algorithm = "sliding_counter"
lease = "1m"
    nothing

algorithm = "sliding_counter"
lease = "2m"
    7:9 limit "api": lease = "2m": it must be from 1ms to 1m

lease = "1m"
    7:9 limit "api": lease = "1m": it must be shorter: the bucket would have no capacity left for what refills in that time

algorithm = "sliding_log"
window = "3650d"
lease = "1ms"
    7:9 limit "api": lease = "1ms": it must be shorter: window and lease together are 3650d at most

algorithm = "leaky_bucket"
lease = "100ms"
    7:9 limit "api": lease has no effect on a leaky_bucket that queues: remove it, or set queue = false

algorithm = "leaky_bucket"
queue = false
lease = "100ms"
    nothing
"#;
