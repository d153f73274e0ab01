//! `[trust]`.

use super::{LIMIT, assert_diagnostics};

fn trust(lines: &str) -> String {
    format!("{LIMIT}[trust]\n{lines}\n")
}

#[test]
fn trust_names_proxies() {
    assert_diagnostics(TRUST, trust);
}

const TRUST: &str = r#"
# nobody
    nothing

proxies = []
    nothing

proxies = "127.0.0.1/32"
    8:11 trust: proxies = "127.0.0.1/32": it must be a list in brackets, like ["127.0.0.1/32"]

proxies = ["127.0.0.1", "::1/128"]
    nothing

proxies = ["localhost"]
    8:12 trust: proxies = "localhost": it must be an address or a network, like 10.0.0.0/8 or fd00::/8

proxies = ["127.0.0.1/33", 7]
    8:12 trust: proxies = "127.0.0.1/33": it must be an address or a network, like 10.0.0.0/8 or fd00::/8
    8:28 trust: proxies = 7: it must be text in quotes

proxy = ["127.0.0.1"]
    8:1 trust: unknown field "proxy": known fields are proxies, forwarded, headers

proxies = ["127.0.0.1"]
forwarded = "forwarded"
    nothing

proxies = ["127.0.0.1"]
forwarded = "X-Forwarded-For"
    9:13 trust: forwarded = "X-Forwarded-For": it must be one of x-forwarded-for, forwarded: did you mean x-forwarded-for?

proxies = ["127.0.0.1"]
forwarded = "x-real-ip"
    9:13 trust: forwarded = "x-real-ip": it must be one of x-forwarded-for, forwarded

proxies = ["127.0.0.1"]
forwarded = true
    9:13 trust: forwarded = true: it must be one of x-forwarded-for, forwarded

proxies = ["127.0.0.1"]
forwarded = ["forwarded"]
    9:13 trust: forwarded = ["forwarded"]: it must be one of x-forwarded-for, forwarded

forwarded = "forwarded"
    8:13 trust: forwarded without proxies: name the trusted proxies, like proxies = ["127.0.0.1/32"]

proxies = []
forwarded = "forwarded"
    9:13 trust: forwarded without proxies: name the trusted proxies, like proxies = ["127.0.0.1/32"]

proxies = ["127.0.0.1"]
headers = []
    nothing

headers = ["x-plan"]
    8:11 trust: headers without proxies: name the trusted proxies, like proxies = ["127.0.0.1/32"]

proxies = []
headers = ["x-plan"]
    9:11 trust: headers without proxies: name the trusted proxies, like proxies = ["127.0.0.1/32"]

proxies = ["127.0.0.1"]
headers = "x-plan"
    9:11 trust: headers = "x-plan": it must be a list in brackets, like ["x-plan"]

proxies = ["127.0.0.1"]
headers = ["x plan", "", 7]
    9:12 trust: headers = "x plan": it must be the name of a header, like x-user-id
    9:22 trust: headers = "": it must be the name of a header, like x-user-id
    9:26 trust: headers = 7: it must be text in quotes

proxies = ["127.0.0.1"]
headers = ["header:x-plan"]
    9:12 trust: headers = "header:x-plan": it must be the name of a header, like x-user-id

proxies = ["127.0.0.1"]
hops = 2
    9:1 trust: unknown field "hops": known fields are proxies, forwarded, headers
"#;

#[test]
fn trust_is_one_table() {
    assert_diagnostics(TABLES, |lines| format!("{LIMIT}{lines}\n"));
}

const TABLES: &str = r#"
[[trust]]
proxies = ["127.0.0.1"]
    7:1 trust = [[trust]]: it must be a table, like [trust], in single brackets and only once

[trusted]
proxies = ["127.0.0.1"]
    7:2 unknown field "trusted": did you mean trust?

[trust]
proxies = ["127.0.0.1"]
[trust]
headers = ["x-plan"]
    9:2 trust is there twice
"#;
