//! `domain` and `descriptor`.

use super::{LIMIT, assert_diagnostics};

/// A limit without a key, and these lines.
fn limit(lines: &str) -> String {
    LIMIT.replace("key = \"global\"\n", lines)
}

#[test]
fn a_descriptor_replaces_the_fields_of_http_requests() {
    assert_diagnostics(LIMITS, limit);
}

#[test]
fn an_exemption_has_a_descriptor_or_the_fields_of_http_requests() {
    assert_diagnostics(EXEMPTIONS, |lines| format!("{LIMIT}{lines}\n"));
}

const LIMITS: &str = r#"
domain = "edge"
descriptor = ["tenant", "path=/search", "user=a*"]
unit = "tokens"
lease = "100ms"
shadow = true
    nothing

domain = "edge"
    1:1 limit "api": descriptor is missing: add one like descriptor = ["tenant"]

descriptor = ["tenant"]
    1:1 limit "api": domain is missing: add one like domain = "edge"

domain = ""
descriptor = []
    6:10 limit "api": domain = "": it must be the domain that the proxy sends, like edge
    7:14 limit "api": descriptor = []: it must have at least one value

domain = 7
descriptor = "tenant"
    6:10 limit "api": domain = 7: it must be text in quotes
    7:14 limit "api": descriptor = "tenant": it must be a list in brackets, like ["tenant"]

domain = "edge"
descriptor = ["tenant=", "=acme", "path=*", "", 7]
    7:15 limit "api": descriptor = "tenant=": it must have a value after the =, or no =, for any value
    7:26 limit "api": descriptor = "=acme": it must begin with the key of a descriptor entry, like tenant or path=/search
    7:35 limit "api": descriptor = "path=*": it must be "path", which matches any value
    7:45 limit "api": descriptor = "": it must begin with the key of a descriptor entry, like tenant or path=/search
    7:49 limit "api": descriptor = 7: it must be text in quotes

domain = "edge"
descriptor = [" tenant", "path =/search", "path= /search", "path=/a*/b", "path=*x", "path=**"]
    7:15 limit "api": descriptor = " tenant": it must have no spaces around the key and the value
    7:26 limit "api": descriptor = "path =/search": it must have no spaces around the key and the value
    7:43 limit "api": descriptor = "path= /search": it must have no spaces around the key and the value
    7:60 limit "api": descriptor = "path=/a*/b": it must have an asterisk only at the end, like path=/api/*
    7:74 limit "api": descriptor = "path=*x": it must have an asterisk only at the end, like path=/api/*
    7:85 limit "api": descriptor = "path=**": it must have an asterisk only at the end, like path=/api/*

domain = "edge"
descriptor = ["tenant"]
path = "/search"
methods = ["GET"]
key = "ip"
default = "ip"
optional = true
cost = 2
plan = "header:x-plan"
plans.pro = { limit = 2 }
refund_status = "5xx"
settle_json = "usage"
    8:8 limit "api": path is for HTTP requests, and has no effect with a descriptor: remove it
    9:11 limit "api": methods is for HTTP requests, and has no effect with a descriptor: remove it
    10:7 limit "api": key is for HTTP requests, and has no effect with a descriptor: remove it
    11:11 limit "api": default is for HTTP requests, and has no effect with a descriptor: remove it
    12:12 limit "api": optional is for HTTP requests, and has no effect with a descriptor: remove it
    13:8 limit "api": cost is for HTTP requests, and has no effect with a descriptor: remove it
    14:8 limit "api": plan is for HTTP requests, and has no effect with a descriptor: remove it
    15:1 limit "api": plans is for HTTP requests, and has no effect with a descriptor: remove it
    16:17 limit "api": refund_status is for HTTP requests, and has no effect with a descriptor: remove it
    17:15 limit "api": settle_json is for HTTP requests, and has no effect with a descriptor: remove it

domain = "edge"
descriptors = ["tenant"]
    1:1 limit "api": descriptor is missing: add one like descriptor = ["tenant"]
    7:1 limit "api": unknown field "descriptors": did you mean descriptor?

domain = "edge"
descriptor = ["tenant"]
[[limit]]
name = "exports"
algorithm = "concurrency"
limit = 2
domain = "edge"
descriptor = ["tenant"]
[[limit]]
name = "jobs"
algorithm = "leaky_bucket"
limit = 2
window = "1m"
domain = "edge"
descriptor = ["tenant"]
    10:13 limit "exports": a concurrency limit cannot have a descriptor: a proxy does not report when a request ends
    16:13 limit "jobs": a leaky_bucket with a descriptor cannot delay requests: add queue = false
"#;

const EXEMPTIONS: &str = r#"
[[exempt]]
domain = "edge"
descriptor = ["tenant=internal"]
    nothing

[[exempt]]
domain = "edge"
paths = "/healthz"
    7:1 exempt 1: descriptor is missing: add one like descriptor = ["tenant"]
    9:1 exempt 1: unknown field "paths": did you mean path?

[[exempt]]
domain = "edge"
descriptor = ["tenant"]
networks = ["10.0.0.0/8"]
    10:12 exempt 1: networks is for HTTP requests, and has no effect with a descriptor: remove it
"#;
