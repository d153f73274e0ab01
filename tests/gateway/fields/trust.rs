//! `[trust]`: the trusted proxies and headers.

use super::case::{Case, check_all};

const NINE: &str = r#"200 | "api";q=10;w=315360000 | "api";r=9"#;
const EIGHT: &str = r#"200 | "api";q=10;w=315360000 | "api";r=8"#;

const ONCE: &str = "1576800000000000 1";
const TWICE: &str = "1576800000000000 2";

const XFF: (&str, &str) = ("x-forwarded-for", "203.0.113.9, 192.0.2.1");
const FORWARDED: (&str, &str) = ("forwarded", "for=203.0.113.9, for=192.0.2.2;proto=https");

pub(super) const CASES: &[Case] = &[
    Case {
        covers: &["trust proxies"],
        rules: "
            [[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'ip'
            [trust]\nproxies = ['127.0.0.0/8']",
        requests: &[
            ("GET /", &[XFF, FORWARDED], NINE),
            ("GET /", &[], NINE),
            ("GET /", &[("x-forwarded-for", "2001:db8::1")], NINE),
            ("GET /", &[("x-forwarded-for", "2001:db8::2")], EIGHT),
        ],
        holds: &[
            ("rate_limit:fixed_window:api:315360000000000:ip:127.0.0.1", ONCE),
            ("rate_limit:fixed_window:api:315360000000000:ip:192.0.2.1", ONCE),
            ("rate_limit:fixed_window:api:315360000000000:ip:[2001:db8::]/64", TWICE),
        ],
    },
    Case {
        covers: &["trust proxies"],
        rules: "
            [[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'ip'
            [trust]\nproxies = ['10.0.0.0/8', '192.0.2.0/24']",
        requests: &[("GET /", &[XFF], NINE), ("GET /", &[FORWARDED], EIGHT)],
        holds: &[("rate_limit:fixed_window:api:315360000000000:ip:127.0.0.1", TWICE)],
    },
    Case {
        covers: &["trust forwarded"],
        rules: "
            [[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'ip'
            [trust]\nproxies = ['127.0.0.1']\nforwarded = 'forwarded'",
        requests: &[("GET /", &[XFF, FORWARDED], NINE), ("GET /", &[XFF], NINE)],
        holds: &[
            ("rate_limit:fixed_window:api:315360000000000:ip:127.0.0.1", ONCE),
            ("rate_limit:fixed_window:api:315360000000000:ip:192.0.2.2", ONCE),
        ],
    },
    Case {
        covers: &["trust forwarded"],
        rules: "
            [[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'ip'
            [trust]\nproxies = ['127.0.0.1']\nforwarded = 'x-forwarded-for'",
        requests: &[("GET /", &[XFF, FORWARDED], NINE), ("GET /", &[FORWARDED], NINE)],
        holds: &[
            ("rate_limit:fixed_window:api:315360000000000:ip:127.0.0.1", ONCE),
            ("rate_limit:fixed_window:api:315360000000000:ip:192.0.2.1", ONCE),
        ],
    },
    Case {
        covers: &["trust headers"],
        rules: "
            [[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'header:x-user-id'\ndefault = 'anonymous'
            plan = 'header:x-plan'\nplans.pro = { limit = 100 }\ncost = 'header:x-cost'
            [trust]\nproxies = ['127.0.0.1']\nheaders = ['X-User-Id', 'x-plan', 'x-cost']",
        requests: &[(
            "GET /",
            &[("x-user-id", "alice"), ("x-plan", "pro"), ("x-cost", "5")],
            r#"200 | "api";q=100;w=315360000 | "api";r=95"#,
        )],
        holds: &[(
            "rate_limit:fixed_window:api:315360000000000:x-user-id:alice",
            "1576800000000000 5",
        )],
    },
    Case {
        covers: &["trust headers"],
        // An untrusted peer cannot set the user, the plan or the cost.
        rules: "
            [[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'header:x-user-id'\ndefault = 'anonymous'
            plan = 'header:x-plan'\nplans.pro = { limit = 100 }\ncost = 'header:x-cost'
            [trust]\nproxies = ['10.0.0.0/8']\nheaders = ['X-User-Id', 'x-plan', 'x-cost']",
        requests: &[
            (
                "GET /",
                &[("x-user-id", "alice"), ("x-plan", "pro"), ("x-cost", "5")],
                NINE,
            ),
            (
                "GET /",
                &[("x-user-id", "alice"), ("x-forwarded-for", "10.0.0.1")],
                EIGHT,
            ),
        ],
        holds: &[("rate_limit:fixed_window:api:315360000000000:~anonymous", TWICE)],
    },
];

#[tokio::test]
async fn trust_matches_the_reference() {
    check_all(CASES).await;
}
