//! `plan` and `plans`.

use super::{assert_diagnostics, limit};

/// With the header of plans as a trusted header.
fn trusting(lines: &str) -> String {
    limit(lines) + "\n[trust]\nproxies = [\"127.0.0.1/32\"]\nheaders = [\"x-plan\"]\n"
}

#[test]
fn plan_and_plans_need_each_other() {
    assert_diagnostics(HALVES, trusting);
}

const HALVES: &str = r#"
plan = "header:x-plan"
    7:8 limit "api": plan without plans: write some, like plans.pro = { limit = 1000 }

plans.pro = { limit = 1000 }
    7:1 limit "api": plans without plan: name the header that contains the plan, like plan = "header:x-plan"

plan = "header:x-tier"
    7:8 limit "api": plan without plans: write some, like plans.pro = { limit = 1000 }
    7:8 limit "api": plan = "header:x-tier": it must be a header that only trusted proxies may set: add it to the headers of [trust], like headers = ["x-tier"]

plans.pro = { limt = 1000 }
    7:1 limit "api": plans without plan: name the header that contains the plan, like plan = "header:x-plan"
    7:15 limit "api", plans.pro: unknown field "limt": did you mean limit?

algorithm = "sliding_counter"
sub_windows = 7
plan = "header:x-plan"
plans.free = { limit = 5 }
plans.pro = { limit = 1000 }
    7:15 limit "api": sub_windows = 7: it must divide the window of 60000000 microseconds without a rest

plan = "header:x-plan"
plans = {}
    8:9 limit "api": plans = {}: it must have at least one plan, like plans.pro = { limit = 1000 }

plan = "header:x-plan"
plans = 1000
    8:9 limit "api": plans = 1000: it must be a table, like plans.pro = { limit = 1000 }

plan = "header:x-plan"
plans = ["pro"]
    8:9 limit "api": plans = ["pro"]: it must be a table, like plans.pro = { limit = 1000 }

plan = "header:x-plan"
plans.pro = 1000
    8:13 limit "api": plans.pro = 1000: it must be a table, like { limit = 1000 }

plan = "header:x-plan"
plans.pro = {}
    8:13 limit "api", plans.pro: it changes nothing: give it a limit or a capacity
"#;

#[test]
fn a_plan_has_to_be_in_a_trusted_header() {
    assert_diagnostics(HEADERS, trusting);
}

const HEADERS: &str = r#"
plan = "header:x-plan"
plans.pro = { limit = 1000 }
    nothing

plan = "header:X-Plan"
plans.pro = { limit = 1000 }
    nothing

plan = "header:x-tier"
plans.pro = { limit = 1000 }
    7:8 limit "api": plan = "header:x-tier": it must be a header that only trusted proxies may set: add it to the headers of [trust], like headers = ["x-tier"]

plan = "x-plan"
plans.pro = { limit = 1000 }
    7:8 limit "api": plan = "x-plan": it must name a header, like header:x-plan

plan = "header:"
plans.pro = { limit = 1000 }
    7:8 limit "api": plan = "header:": it must name a header, like header:x-plan

plan = "query:plan"
plans.pro = { limit = 1000 }
    7:8 limit "api": plan = "query:plan": it must name a header, like header:x-plan

plan = ["header:x-plan"]
plans.pro = { limit = 1000 }
    7:8 limit "api": plan = ["header:x-plan"]: it must be text in quotes

plan = 7
plans.pro = { limit = 1000 }
    7:8 limit "api": plan = 7: it must be text in quotes
"#;

#[test]
fn a_plan_has_a_limit_and_a_capacity() {
    assert_diagnostics(FIELDS, trusting);
}

const FIELDS: &str = r#"
plan = "header:x-plan"
plans.pro = { limit = 0 }
    8:23 limit "api", plans.pro: limit = 0: it must be a whole number from 1 to 4294967295

plan = "header:x-plan"
plans.pro = { limit = "1000", capacity = 1.5 }
    8:23 limit "api", plans.pro: limit = "1000": it must be a whole number from 1 to 4294967295
    8:42 limit "api", plans.pro: capacity = 1.5: it must be a whole number from 1 to 4294967295

plan = "header:x-plan"
plans.pro = { limits = 1000 }
    8:15 limit "api", plans.pro: unknown field "limits": did you mean limit?

plan = "header:x-plan"
plans.pro = { limit = 1000, window = "1h" }
    8:29 limit "api", plans.pro: unknown field "window": known fields are limit, capacity

algorithm = "fixed_window"
plan = "header:x-plan"
plans.pro = { capacity = 5 }
    8:26 limit "api", plans.pro: capacity is for a token_bucket or a leaky_bucket, and this is a fixed_window

algorithm = "sliding_log"
plan = "header:x-plan"
plans.pro = { limit = 65537 }
    8:23 limit "api", plans.pro: limit = 65537: it must be from 1 to 65536, since a log keeps an entry for each (a sliding_counter does not)

window = "365d"
plan = "header:x-plan"
plans.pro = { capacity = 4294967295 }
    8:26 limit "api", plans.pro: capacity = 4294967295: it must be at most 1428 for a limit of 10 per 31536000s (it is the limit unless it is set)

window = "3650d"
limit = 14
plan = "header:x-plan"
plans.pro = { limit = 17 }
    8:23 limit "api", plans.pro: capacity = 17: it must be at most 14 for a limit of 17 per 315360000s (it is the limit unless it is set)

plan = "header:x-plan"
plans.free = { limit = 0 }
plans.pro = { capacity = 0 }
    8:24 limit "api", plans.free: limit = 0: it must be a whole number from 1 to 4294967295
    9:26 limit "api", plans.pro: capacity = 0: it must be a whole number from 1 to 4294967295

cost = 5
plan = "header:x-plan"
plans.free = { limit = 4 }
    9:14 limit "api", plans.free: it would deny every request: its capacity is 4, and a request costs 5

cost = 5
plan = "header:x-plan"
plans.free = { limit = 4, burst = 9 }
    9:14 limit "api", plans.free: it would deny every request: its capacity is 4, and a request costs 5
    9:27 limit "api", plans.free: unknown field "burst": known fields are limit, capacity

lease = "30s"
cost = 3
plan = "header:x-plan"
plans.free = { limit = 4 }
    10:14 limit "api", plans.free: it would deny every request: its capacity is 2, and a request costs 3

limit = 0
algorithm = "fixed_window"
plan = "header:x-plan"
plans.pro = { capacity = 5, burst = 5 }
    4:9 limit "api": limit = 0: it must be a whole number from 1 to 4294967295
    8:26 limit "api", plans.pro: capacity is for a token_bucket or a leaky_bucket, and this is a fixed_window
    8:29 limit "api", plans.pro: unknown field "burst": known fields are limit, capacity

plan = "header:x-plan"
plans."größe \n" = { limit = 0 }
plans."" = 5
    8:30 limit "api", plans."größe \n": limit = 0: it must be a whole number from 1 to 4294967295
    9:12 limit "api": plans."" = 5: it must be a table, like { limit = 1000 }

cost = 5
capacity = 5
plan = "header:x-plan"
plans.free = { limit = 4 }
    nothing
"#;
