//! `refund_status` and `settle_json`.

use super::{assert_diagnostics, limit};

#[test]
fn a_status_is_a_class_or_a_number() {
    assert_diagnostics(STATUSES, limit);
}

const STATUSES: &str = r#"
refund_status = "2xx"
    nothing

refund_status = ["2xx", "3xx", "4xx", "5xx"]
    nothing

refund_status = 404
    nothing

refund_status = [100, "599", 0x1f4]
    nothing

algorithm = "leaky_bucket"
refund_status = "5xx"
    nothing

refund_status = "20x"
    7:17 limit "api": refund_status = "20x": it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599

refund_status = "1xx"
    7:17 limit "api": refund_status = "1xx": it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599

refund_status = "2XX"
    7:17 limit "api": refund_status = "2XX": it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599

refund_status = "6xx"
    7:17 limit "api": refund_status = "6xx": it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599

refund_status = 99
    7:17 limit "api": refund_status = 99: it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599

refund_status = 600
    7:17 limit "api": refund_status = 600: it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599

refund_status = "600"
    7:17 limit "api": refund_status = "600": it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599

refund_status = "+404"
    7:17 limit "api": refund_status = "+404": it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599

refund_status = "0404"
    7:17 limit "api": refund_status = "0404": it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599

refund_status = -404
    7:17 limit "api": refund_status = -404: it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599

refund_status = 99999999999999999999
    7:17 limit "api": refund_status = 99999999999999999999: it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599

refund_status = 404.0
    7:17 limit "api": refund_status = 404.0: it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599

refund_status = ""
    7:17 limit "api": refund_status = "": it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599

refund_status = true
    7:17 limit "api": refund_status = true: it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599

refund_status = []
    7:17 limit "api": refund_status = []: it must have at least one value

refund_status = ["2xx", "ok", 404, 7]
    7:25 limit "api": refund_status = "ok": it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599
    7:36 limit "api": refund_status = 7: it must be 2xx, 3xx, 4xx or 5xx in quotes, or a status from 100 to 599

refund_statuses = "2xx"
    7:1 limit "api": unknown field "refund_statuses": did you mean refund_status?
"#;

#[cfg(feature = "axum")]
#[test]
fn a_path_is_names_separated_by_dots() {
    assert_diagnostics(PATHS, limit);
}

#[cfg(feature = "axum")]
const PATHS: &str = r#"
settle_json = "used"
    nothing

settle_json = ["usage.total_tokens", "response.usage.total_tokens"]
    nothing

refund_status = "5xx"
settle_json = "usage.total_tokens"
    nothing

settle_json = ""
    7:15 limit "api": settle_json = "": it must be names separated by dots, like usage.total_tokens

settle_json = ".used"
    7:15 limit "api": settle_json = ".used": it must be names separated by dots, like usage.total_tokens

settle_json = ["used", "usage..tokens", 7]
    7:24 limit "api": settle_json = "usage..tokens": it must be names separated by dots, like usage.total_tokens
    7:41 limit "api": settle_json = 7: it must be text in quotes

settle_json = []
    7:15 limit "api": settle_json = []: it must have at least one value

settle_json = true
    7:15 limit "api": settle_json = true: it must be text in quotes
"#;

#[cfg(not(feature = "axum"))]
#[test]
fn a_path_requires_axum() {
    assert_diagnostics(
        r#"
settle_json = "used"
    7:15 limit "api": settle_json requires the feature axum of tollgate: enable it, or remove settle_json
"#,
        limit,
    );
}

#[test]
fn a_concurrency_limit_has_no_outcomes() {
    assert_diagnostics(CONCURRENCY, |lines| {
        format!("[[limit]]\nname = \"api\"\nalgorithm = \"concurrency\"\nlimit = 20\nkey = \"global\"\n{lines}\n")
    });
}

const CONCURRENCY: &str = r#"
refund_status = "2xx"
    6:17 limit "api": refund_status has no effect on a concurrency limit: remove it

settle_json = "used"
    6:15 limit "api": settle_json has no effect on a concurrency limit: remove it

refund_status = "20x"
settle_json = ""
    6:17 limit "api": refund_status has no effect on a concurrency limit: remove it
    7:15 limit "api": settle_json has no effect on a concurrency limit: remove it
"#;
