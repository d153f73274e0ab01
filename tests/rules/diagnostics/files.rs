//! Whole files: missing, unknown and duplicate fields, and many diagnostics at once.

use tollgate::RuleSet;

use super::assert_diagnostics;

#[test]
fn a_limit_has_five_required_fields() {
    assert_diagnostics(MISSING, str::to_owned);
}

const MISSING: &str = r#"
[[limit]]
    1:1 limit 1: name is missing: add one like name = "user"
    1:1 limit 1: algorithm is missing: add one like algorithm = "sliding_counter"
    1:1 limit 1: limit is missing: add one like limit = 100
    1:1 limit 1: window is missing: add one like window = "1m"
    1:1 limit 1: key is missing: add one like key = "ip"

[[limit]]
name = "api"
    1:1 limit "api": algorithm is missing: add one like algorithm = "sliding_counter"
    1:1 limit "api": limit is missing: add one like limit = 100
    1:1 limit "api": window is missing: add one like window = "1m"
    1:1 limit "api": key is missing: add one like key = "ip"

# nothing
    1:1 no limit is defined: define each under [[limit]]

limit = []
    1:1 no limit is defined: define each under [[limit]]

limit = 10
    1:9 limit = 10: it must be written [[limit]], in two brackets, once for each

limit = [1]
    1:9 limit = [1]: it must be written [[limit]], in two brackets, once for each

[limit]
name = "api"
    1:1 limit = [limit]: it must be written [[limit]], in two brackets, once for each

[limit]
name = "api"
[limit]
name = "login"
    1:2 [limit] must be written [[limit]], in two brackets, once for each
    3:2 [limit] must be written [[limit]], in two brackets, once for each

[[limit]]
name = "api"
[limit]
name = "login"
    3:2 [limit] must be written [[limit]], in two brackets, once for each

[[limits]]
name = "api"
    1:1 no limit is defined: define each under [[limit]]
    1:3 unknown field "limits": did you mean limit?

[[exempt]]
path = "/healthz"
    1:1 no limit is defined: define each under [[limit]]
"#;

#[test]
fn an_unknown_field_has_a_suggestion() {
    assert_diagnostics(UNKNOWN, super::limit);
}

const UNKNOWN: &str = r#"
windows = "1m"
    7:1 limit "api": unknown field "windows": did you mean window?

algoritm = "token_bucket"
    7:1 limit "api": unknown field "algoritm": did you mean algorithm?

Limit = 10
    7:1 limit "api": unknown field "Limit": did you mean limit?

max-wait = "30s"
    7:1 limit "api": unknown field "max-wait": did you mean max_wait?

burst = 20
    7:1 limit "api": unknown field "burst": known fields are name, algorithm, limit, window, capacity, queue, max_wait, anchored, sub_windows, time_to_live, retry_after, status, unit, lease, shadow, domain, descriptor, path, methods, key, default, optional, cost, plan, plans, refund_status, settle_json

"" = 1
    7:1 limit "api": unknown field "": known fields are name, algorithm, limit, window, capacity, queue, max_wait, anchored, sub_windows, time_to_live, retry_after, status, unit, lease, shadow, domain, descriptor, path, methods, key, default, optional, cost, plan, plans, refund_status, settle_json

"größe" = 1
    7:1 limit "api": unknown field "größe": known fields are name, algorithm, limit, window, capacity, queue, max_wait, anchored, sub_windows, time_to_live, retry_after, status, unit, lease, shadow, domain, descriptor, path, methods, key, default, optional, cost, plan, plans, refund_status, settle_json

[[exmpt]]
path = "/healthz"
    7:3 unknown field "exmpt": did you mean exempt?

[server]
port = 80
    7:2 unknown field "server": known fields are trust, limit, exempt
"#;

/// Otherwise a log file that is mistaken for a rules file would fill another log.
#[test]
fn diagnostics_beyond_fifty_are_counted() {
    let file = |unknown: usize| {
        (0..unknown)
            .map(|number| format!("field-{number} = 1\n"))
            .collect::<String>()
    };
    // The missing limit is one more diagnostic.
    for (unknown, last) in [(49, "field-48"), (50, "and 1 more"), (1000, "and 951 more")] {
        let error = RuleSet::parse(&file(unknown)).unwrap_err();
        assert_eq!(error.diagnostics().len(), unknown + 1);
        let message = error.to_string();
        assert!(message.lines().last().unwrap().contains(last), "{message}");
        assert_eq!(message.lines().count(), (unknown + 1).min(51));
    }
}

#[test]
fn names_have_to_differ() {
    assert_diagnostics(NAMES, str::to_owned);
}

const NAMES: &str = r#"
[[limit]]
name = "api"
algorithm = "fixed_window"
limit = 10
window = "1m"
key = "ip"
[[limit]]
name = "other"
algorithm = "fixed_window"
limit = 10
window = "1m"
key = "ip"
[[limit]]
name = "api"
algorithm = "fixed_window"
limit = 0
window = "1h"
key = "ip"
[[limit]]
name = "api"
algorithm = "fixed_window"
limit = 10
window = "1d"
key = "ip"
    14:8 limit 3: name = "api": it must be unique: line 2 has the same name
    16:9 limit "api": limit = 0: it must be a whole number from 1 to 4294967295
    20:8 limit 4: name = "api": it must be unique: line 14 has the same name
"#;

#[test]
fn all_diagnostics_are_reported_at_once_from_top_to_bottom() {
    assert_diagnostics(MANY, str::to_owned);
}

const MANY: &str = r#"
[trust]
proxies = ["localhost"]
header = ["x-plan"]
[[exempt]]
path = "healthz"
[[limit]]
name = "Global"
algorithm = "sliding_window"
limit = 0
window = "1 minute"
key = "everybody"
[[limit]]
key = ["header:", "ip"]
default = 7
cost = -1
shadow = "no"
methods = ["get"]
path = "/users/:id"
[[limit]]
name = "user"
algorithm = "fixed_window"
capacity = 5
limit = 10
window = "1m"
key = "ip"
plans.pro = { limit = 1000 }
color = "red"
[[exempt]]
[[exempt]]
networks = ["10.0.0.0/99"]
    2:12 trust: proxies = "localhost": it must be an address or a network, like 10.0.0.0/8 or fd00::/8
    3:1 trust: unknown field "header": did you mean headers?
    5:8 exempt 1: path = "healthz": it must begin with a slash, like /api/search
    7:8 limit 1: name = "Global": it must be 1 to 64 of a-z 0-9 _ . -
    8:13 limit 1: algorithm = "sliding_window": it must be one of token_bucket, leaky_bucket, fixed_window, sliding_log, sliding_counter, concurrency
    9:9 limit 1: limit = 0: it must be a whole number from 1 to 4294967295
    10:10 limit 1: window = "1 minute": it must be a whole number and its unit in quotes, like "10s": the units are us, ms, s, m, h and d
    11:7 limit 1: key = "everybody": it must be global, ip, route, method, header:NAME, apikey:NAME, query:NAME or cookie:NAME
    12:1 limit 2: name is missing: add one like name = "user"
    12:1 limit 2: algorithm is missing: add one like algorithm = "sliding_counter"
    12:1 limit 2: limit is missing: add one like limit = 100
    12:1 limit 2: window is missing: add one like window = "1m"
    13:8 limit 2: key = "header:": it must name a header after the colon, like x-user-id
    14:11 limit 2: default = 7: it must be text in quotes
    15:8 limit 2: cost = -1: it must be a whole number from 1 to 4294967295
    16:10 limit 2: shadow = "no": it must be true or false
    17:12 limit 2: methods = "get": it must be a method in capital letters, like GET
    18:8 limit 2: path = "/users/:id": it must have its parameters in braces, like /users/{id}
    22:12 limit "user": capacity is for a token_bucket or a leaky_bucket, and this is a fixed_window
    26:1 limit "user": plans without plan: name the header that contains the plan, like plan = "header:x-plan"
    27:1 limit "user": unknown field "color": known fields are name, algorithm, limit, window, capacity, queue, max_wait, anchored, sub_windows, time_to_live, retry_after, status, unit, lease, shadow, domain, descriptor, path, methods, key, default, optional, cost, plan, plans, refund_status, settle_json
    28:1 exempt 2: it would exempt every request: restrict it by path, methods, networks or descriptor
    30:13 exempt 3: networks = "10.0.0.0/99": it must be an address or a network, like 10.0.0.0/8 or fd00::/8
"#;
