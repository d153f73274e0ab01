//! `[[exempt]]`.

use super::{LIMIT, assert_diagnostics};

fn exempt(lines: &str) -> String {
    format!("{LIMIT}{lines}\n")
}

#[test]
fn an_exemption_needs_a_condition() {
    assert_diagnostics(EXEMPTIONS, exempt);
}

const EXEMPTIONS: &str = r#"
[[exempt]]
    7:1 exempt 1: it would exempt every request: restrict it by path, methods, networks or descriptor

[[exempt]]
path = "/healthz"
[[exempt]]
    9:1 exempt 2: it would exempt every request: restrict it by path, methods, networks or descriptor

[[exempt]]
key = "ip"
    8:1 exempt 1: unknown field "key": known fields are domain, descriptor, path, methods, networks

[[exempt]]
paths = "/healthz"
    8:1 exempt 1: unknown field "paths": did you mean path?

[[exempt]]
network = ["10.0.0.0/8"]
    8:1 exempt 1: unknown field "network": did you mean networks?

[exempt]
path = "/healthz"
    7:1 exempt = [exempt]: it must be written [[exempt]], in two brackets, once for each

exempt = "/healthz"
    7:1 limit "api": unknown field "exempt": known fields are name, algorithm, limit, window, capacity, queue, max_wait, anchored, sub_windows, time_to_live, retry_after, status, unit, lease, shadow, domain, descriptor, path, methods, key, default, optional, cost, plan, plans, refund_status, settle_json

[[exempt]]
path = "healthz"
methods = ["options"]
    8:8 exempt 1: path = "healthz": it must begin with a slash, like /api/search
    9:12 exempt 1: methods = "options": it must be a method in capital letters, like GET

[[exempt]]
methods = "OPTIONS"
    8:11 exempt 1: methods = "OPTIONS": it must be a list in brackets, like ["OPTIONS"]

[[exempt]]
methods = []
    8:11 exempt 1: methods = []: it must have at least one value

[[exempt]]
networks = []
    8:12 exempt 1: networks = []: it must have at least one value

[[exempt]]
networks = "10.0.0.0/8"
    8:12 exempt 1: networks = "10.0.0.0/8": it must be a list in brackets, like ["10.0.0.0/8"]

[[exempt]]
networks = ["10.0.0.1", "::1"]
    nothing

[[exempt]]
networks = ["10.0.0.0/33"]
    8:13 exempt 1: networks = "10.0.0.0/33": it must be an address or a network, like 10.0.0.0/8 or fd00::/8

[[exempt]]
networks = ["fd00::/129", "10.0.0.0/8", "office", 7]
    8:13 exempt 1: networks = "fd00::/129": it must be an address or a network, like 10.0.0.0/8 or fd00::/8
    8:41 exempt 1: networks = "office": it must be an address or a network, like 10.0.0.0/8 or fd00::/8
    8:51 exempt 1: networks = 7: it must be text in quotes

[[exempt]]
networks = ["10.0.0.0/8 "]
    8:13 exempt 1: networks = "10.0.0.0/8 ": it must be an address or a network, like 10.0.0.0/8 or fd00::/8
"#;
