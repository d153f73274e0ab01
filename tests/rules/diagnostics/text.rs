//! Text that is not TOML, and the positions of diagnostics.

use super::{LIMIT, assert_diagnostics, diagnostics_of, limit};

#[test]
fn syntax_errors_have_positions() {
    assert_diagnostics(SYNTAX, str::to_owned);
}

const SYNTAX: &str = r#"
[[limit]]
name = api
    2:8 api is no value: text has to be in quotes

[[limit]]
key = ip
algorithm = token_bucket
default = nobody
path = /api
methods = [GET]
    2:7 ip is no value: text has to be in quotes
    3:13 token_bucket is no value: text has to be in quotes
    4:11 nobody is no value: text has to be in quotes
    5:8 /api is no value: text has to be in quotes
    6:12 GET is no value: text has to be in quotes

[[limit]]
shadow = True
queue = yes
    2:10 True is no value: write true or false
    3:9 yes is no value: write true or false

[[limit]
name = "api"
    1:9 unclosed array table, expected `]`

[[limit]]
name = "api
    2:12 invalid basic string, expected `"`

[[limit]]
name "api"
    2:6 key with no value, expected `=`

[[limit]]
name =
    2:7 there is no value after the =

[[limit]]
name = "api"
name = "api"
limit = 0
algorithm = "token_bucket"
window = "1m"
key = "ip"
    3:1 name is there twice
    4:9 limit "api": limit = 0: it must be a whole number from 1 to 4294967295

[[limit]]
limit = 010
    2:9 a number does not begin with 0

[[limit]]
window = 1m
    2:10 1m is no value: text has to be in quotes

[[limit]]
key = ["ip"
    2:12 unclosed array, expected `]`

[[limit]]
plans.pro = { limit = 1000
window = "1m"
    3:1 missing comma between key-value pairs, expected `,`
    3:14 unclosed inline table, expected `}`

[trust]
proxies = ["10.0.0.0/8"]
headers = ["x-plan"]
[[limit]]
name = "api"
algorithm = "token_bucket"
limit = 10
window = "1m"
key = "ip"
plan = "header:x-plan"
plans.pro.limit = 1
plans.pro = 2
    12:7 pro is there twice

{ "limit": [] }
    1:1 invalid key-value pair, expected key

limit:
  - name: api
    1:6 invalid unquoted key, expected letters, numbers, `-`, `_`
    1:7 key with no value, expected `=`
    2:5 key with no value, expected `=`

[[limit]]
name = 'api" 
limit = ,
key = "ip
    2:14 invalid literal string, expected `'`
    3:9 unexpected key or value, expected newline, `#`
    3:9 there is no value after the =
    4:10 invalid basic string, expected `"`
"#;

#[test]
fn an_empty_file_has_no_limit() {
    for file in ["", "\n\n", "\u{feff}", "# later\n", "\r\n"] {
        assert_eq!(
            diagnostics_of(file),
            ["1:1 no limit is defined: define each under [[limit]]"],
            "{file:?}"
        );
    }
}

/// Files of other systems are parsed in the same way.
#[test]
fn crlf_line_endings_and_a_byte_order_mark_are_accepted() {
    let invalid = limit("name = \"API\"\nwindow = 60\nkey = [\n  \"ip\",\n  7,\n]\nshadow = 1\nsize = 1");
    assert_eq!(diagnostics_of(&invalid).len(), 5);
    assert_eq!(diagnostics_of(&invalid.replace('\n', "\r\n")), diagnostics_of(&invalid));
    assert_eq!(diagnostics_of(&format!("\u{feff}{invalid}")), diagnostics_of(&invalid));
    assert_eq!(diagnostics_of(&LIMIT.replace('\n', "\r\n")), ["nothing"]);
    assert_eq!(diagnostics_of(&format!("\u{feff}{LIMIT}")), ["nothing"]);
    let expected = "1:9 limit = 10: it must be written [[limit]], in two brackets, once for each";
    assert_eq!(diagnostics_of("\u{feff}limit = 10"), [expected]);
}

#[test]
fn a_column_counts_characters_and_not_bytes() {
    assert_diagnostics(COLUMNS, limit);
}

const COLUMNS: &str = r#"
"größe" = 1
    7:1 limit "api": unknown field "größe": known fields are name, algorithm, limit, window, capacity, queue, max_wait, anchored, sub_windows, time_to_live, retry_after, status, unit, lease, shadow, domain, descriptor, path, methods, key, default, optional, cost, plan, plans, refund_status, settle_json

methods = ["größe", "\u00e9", "🚦", "get"]
    7:12 limit "api": methods = "größe": it must be a method in capital letters, like GET
    7:21 limit "api": methods = "\u00e9": it must be a method in capital letters, like GET
    7:31 limit "api": methods = "🚦": it must be a method in capital letters, like GET
    7:36 limit "api": methods = "get": it must be a method in capital letters, like GET

default = 7 # größe
	shadow = 1
    7:11 limit "api": default = 7: it must be text in quotes
    8:11 limit "api": shadow = 1: it must be true or false

key = [ # größe
"größe",
  "ip", "größe"
]
    7:1 limit "api": key = "größe": it must be global, ip, route, method, header:NAME, apikey:NAME, query:NAME or cookie:NAME
    8:9 limit "api": key = "größe": it must be global, ip, route, method, header:NAME, apikey:NAME, query:NAME or cookie:NAME
"#;
