//! `cost` and `unit`.

use super::{assert_diagnostics, limit};

#[test]
fn a_cost_is_a_number_that_fits_or_a_trusted_header() {
    assert_diagnostics(COSTS, limit);
}

const COSTS: &str = r#"
cost = 10
    nothing

cost = 11
    7:8 limit "api": cost = 11: it must be at most 10, the capacity of the limit

capacity = 20
cost = 20
    nothing

capacity = 5
cost = 6
    8:8 limit "api": cost = 6: it must be at most 5, the capacity of the limit

# With its lease, the bucket holds what refills in 30 seconds less: 5 of 10.
lease = "30s"
cost = 5
    nothing

lease = "30s"
cost = 6
    8:8 limit "api": cost = 6: it must be at most 5, the capacity of the limit with its lease

cost = 0
    7:8 limit "api": cost = 0: it must be a whole number from 1 to 4294967295

cost = -1
    7:8 limit "api": cost = -1: it must be a whole number from 1 to 4294967295

cost = 1.5
    7:8 limit "api": cost = 1.5: it must be a number without quotes, or name a header, like "header:x-cost"

cost = "5"
    7:8 limit "api": cost = "5": it must be a number without quotes, or name a header, like "header:x-cost"

cost = "x-cost"
    7:8 limit "api": cost = "x-cost": it must be a number without quotes, or name a header, like "header:x-cost"

cost = "header:"
    7:8 limit "api": cost = "header:": it must be a number without quotes, or name a header, like "header:x-cost"

cost = ["header:x-cost"]
    7:8 limit "api": cost = ["header:x-cost"]: it must be a number without quotes, or name a header, like "header:x-cost"

cost = "header:x-cost"
    7:8 limit "api": cost = "header:x-cost": it must be a header that only trusted proxies may set: add it to the headers of [trust], like headers = ["x-cost"]

cost = "header:x-cost"
[trust]
proxies = ["127.0.0.1/32"]
    7:8 limit "api": cost = "header:x-cost": it must be a header that only trusted proxies may set: add it to the headers of [trust], like headers = ["x-cost"]

cost = "header:x-cost"
[trust]
proxies = ["127.0.0.1/32"]
headers = ["x-plan"]
    7:8 limit "api": cost = "header:x-cost": it must be a header that only trusted proxies may set: add it to the headers of [trust], like headers = ["x-cost"]

cost = "header:X-Cost"
[trust]
proxies = ["127.0.0.1/32"]
headers = ["x-cost"]
    nothing
"#;

#[test]
fn a_unit_is_a_word() {
    assert_diagnostics(UNITS, limit);
}

const UNITS: &str = r#"
unit = "content-bytes"
    nothing

unit = "GPU seconds"
    7:8 limit "api": unit = "GPU seconds": it must be 1 to 64 of a-z 0-9 _ . -

unit = 7
    7:8 limit "api": unit = 7: it must be text in quotes
"#;
