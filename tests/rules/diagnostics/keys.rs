//! `key`, `default` and `optional`.

use super::{assert_diagnostics, limit};

#[test]
fn a_key_is_one_of_eight_kinds() {
    assert_diagnostics(KEYS, limit);
}

const KEYS: &str = r#"
key = "user"
    6:7 limit "api": key = "user": it must be global, ip, route, method, header:NAME, apikey:NAME, query:NAME or cookie:NAME

key = "IP"
    6:7 limit "api": key = "IP": it must be global, ip, route, method, header:NAME, apikey:NAME, query:NAME or cookie:NAME

key = ""
    6:7 limit "api": key = "": it must be global, ip, route, method, header:NAME, apikey:NAME, query:NAME or cookie:NAME

key = "ip:v4"
    6:7 limit "api": key = "ip:v4": it must be global, ip, route, method, header:NAME, apikey:NAME, query:NAME or cookie:NAME

key = "global:"
    6:7 limit "api": key = "global:": it must be global, ip, route, method, header:NAME, apikey:NAME, query:NAME or cookie:NAME

key = "header"
    6:7 limit "api": key = "header": it must be global, ip, route, method, header:NAME, apikey:NAME, query:NAME or cookie:NAME

key = "headers:x-user-id"
    6:7 limit "api": key = "headers:x-user-id": it must be global, ip, route, method, header:NAME, apikey:NAME, query:NAME or cookie:NAME

key = "Header:x-user-id"
    6:7 limit "api": key = "Header:x-user-id": it must be global, ip, route, method, header:NAME, apikey:NAME, query:NAME or cookie:NAME

key = "header:"
    6:7 limit "api": key = "header:": it must name a header after the colon, like x-user-id

key = "header:x user"
    6:7 limit "api": key = "header:x user": it must name a header after the colon, like x-user-id

key = "header: x-user-id"
    6:7 limit "api": key = "header: x-user-id": it must name a header after the colon, like x-user-id

key = "header:größe"
    6:7 limit "api": key = "header:größe": it must name a header after the colon, like x-user-id

key = "apikey"
    6:7 limit "api": key = "apikey": it must be global, ip, route, method, header:NAME, apikey:NAME, query:NAME or cookie:NAME

key = "apikey:"
    6:7 limit "api": key = "apikey:": it must name a header after the colon, like x-user-id

key = "apikey:x:y"
    6:7 limit "api": key = "apikey:x:y": it must name a header after the colon, like x-user-id

key = "query:"
    6:7 limit "api": key = "query:": it must name a query parameter after the colon

key = "query: tenant"
    6:7 limit "api": key = "query: tenant": it must name a query parameter after the colon: " tenant" is not a valid name

key = "query:first name"
    nothing

key = "cookie:"
    6:7 limit "api": key = "cookie:": it must name a cookie after the colon

key = "cookie: session"
    6:7 limit "api": key = "cookie: session": it must name a cookie after the colon: " session" is not a valid name

key = "cookie:a=b"
    6:7 limit "api": key = "cookie:a=b": it must name a cookie after the colon: "a=b" is not a valid name

key = "cookie:a;b"
    6:7 limit "api": key = "cookie:a;b": it must name a cookie after the colon: "a;b" is not a valid name

key = 7
    6:7 limit "api": key = 7: it must be text in quotes

key = { header = "x-user-id" }
    6:7 limit "api": key = { header = "x-user-id" }: it must be text in quotes

key = []
    6:7 limit "api": key = []: it must have at least one value

key = [["ip"]]
    6:8 limit "api": key = ["ip"]: it must be text in quotes

key = ["ip", "ip"]
    nothing

key = ["ip", 7, "user", "header:"]
    6:14 limit "api": key = 7: it must be text in quotes
    6:17 limit "api": key = "user": it must be global, ip, route, method, header:NAME, apikey:NAME, query:NAME or cookie:NAME
    6:25 limit "api": key = "header:": it must name a header after the colon, like x-user-id
"#;

#[test]
fn an_optional_key_has_no_default() {
    assert_diagnostics(OPTIONAL, limit);
}

const OPTIONAL: &str = r#"
optional = "yes"
    7:12 limit "api": optional = "yes": it must be true or false

default = "ip"
optional = true
    8:12 limit "api": optional = true: it must be false, or there must be no default: a request without the key is counted by that
"#;

#[test]
fn a_default_is_a_string() {
    assert_diagnostics(DEFAULTS, limit);
}

const DEFAULTS: &str = r#"
default = ""
    7:11 limit "api": default = "": it must be a name for the default key, like anonymous, or ip

default = 7
    7:11 limit "api": default = 7: it must be text in quotes

default = ["anonymous"]
    7:11 limit "api": default = ["anonymous"]: it must be text in quotes

default = true
    7:11 limit "api": default = true: it must be text in quotes

key = "header:x-user-id"
default = "IP"
    7:11 limit "api": default = "IP": it must be a name for the default key, like anonymous, or ip in lowercase: other keys cannot be a default

key = "header:x-user-id"
default = "header:x-session"
    7:11 limit "api": default = "header:x-session": it must be a name for the default key, like anonymous, or ip in lowercase: other keys cannot be a default

key = "header:x-user-id"
default = "global"
    nothing

default = "anonymous"
    nothing
"#;
