//! `[[limit]]`: name, quota, cost, unit, plans, lease and shadow mode.

use super::{
    algorithms::TWO_PASS,
    case::{Case, check_all},
};

pub(super) const CASES: &[Case] = &[
    Case {
        covers: &["limit name", "limit limit", "limit window", "algorithm fixed_window"],
        rules: "
            [[limit]]
            name = 'orders_v1.2-x'
            FIXED
            limit = 2
            key = 'global'
            [[limit]]
            name = 'all'
            FIXED
            limit = 3
            key = 'global'",
        requests: &[
            (
                "GET /",
                &[],
                r#"200 | "orders_v1.2-x";q=2;w=315360000, "all";q=3;w=315360000 | "orders_v1.2-x";r=1, "all";r=2"#,
            ),
            (
                "GET /",
                &[],
                r#"200 | "orders_v1.2-x";q=2;w=315360000, "all";q=3;w=315360000 | "orders_v1.2-x";r=0, "all";r=1"#,
            ),
            (
                "GET /",
                &[],
                r#"429 | "orders_v1.2-x";q=2;w=315360000, "all";q=3;w=315360000 | "orders_v1.2-x";r=0"#,
            ),
        ],
        holds: &[
            (
                "rate_limit:fixed_window:all:315360000000000:global",
                "1576800000000000 2",
            ),
            (
                "rate_limit:fixed_window:orders_v1.2-x:315360000000000:global",
                "1576800000000000 2",
            ),
        ],
    },
    Case {
        covers: &["limit cost"],
        rules: "
            [[limit]]
            name = 'api'
            FIXED
            limit = 10
            key = 'global'
            cost = 4",
        requests: &[
            ("GET /", &[], r#"200 | "api";q=10;w=315360000 | "api";r=6"#),
            ("GET /", &[], r#"200 | "api";q=10;w=315360000 | "api";r=2"#),
            ("GET /", &[], r#"429 | "api";q=10;w=315360000 | "api";r=2"#),
        ],
        holds: &[(
            "rate_limit:fixed_window:api:315360000000000:global",
            "1576800000000000 8",
        )],
    },
    Case {
        covers: &["limit cost"],
        rules: "
            [[limit]]
            name = 'api'
            FIXED
            limit = 10
            key = 'global'
            cost = 'header:x-cost'
            [trust]
            proxies = ['127.0.0.1']
            headers = ['x-cost']",
        requests: &[
            (
                "GET /",
                &[("x-cost", "7")],
                r#"200 | "api";q=10;w=315360000 | "api";r=3"#,
            ),
            (
                "GET /",
                &[("x-cost", "4")],
                r#"429 | "api";q=10;w=315360000 | "api";r=3"#,
            ),
            (
                "GET /",
                &[("x-cost", "none")],
                r#"200 | "api";q=10;w=315360000 | "api";r=2"#,
            ),
            ("GET /", &[], r#"200 | "api";q=10;w=315360000 | "api";r=1"#),
            (
                "GET /",
                &[("x-cost", "11")],
                r#"429 | "api";q=10;w=315360000 | "api";r=1"#,
            ),
        ],
        holds: &[(
            "rate_limit:fixed_window:api:315360000000000:global",
            "1576800000000000 9",
        )],
    },
    Case {
        covers: &["limit plan", "limit plans"],
        rules: "
            [[limit]]
            name = 'api'
            algorithm = 'token_bucket'
            window = '3650d'
            limit = 10
            key = 'header:x-user-id'
            plan = 'header:x-plan'
            plans.free = { limit = 2 }
            plans.pro = { limit = 100, capacity = 50 }
            [trust]
            proxies = ['127.0.0.1']
            headers = ['x-plan']",
        requests: &[
            (
                "GET /",
                &[("x-user-id", "a"), ("x-plan", "free")],
                r#"200 | "api";q=2;w=315360000 | "api";r=1"#,
            ),
            (
                "GET /",
                &[("x-user-id", "b"), ("x-plan", "pro")],
                r#"200 | "api";q=50;w=157680000 | "api";r=49"#,
            ),
            (
                "GET /",
                &[("x-user-id", "c"), ("x-plan", "gold")],
                r#"200 | "api";q=10;w=315360000 | "api";r=9"#,
            ),
            (
                "GET /",
                &[("x-user-id", "d")],
                r#"200 | "api";q=10;w=315360000 | "api";r=9"#,
            ),
            (
                "GET /",
                &[("x-user-id", "a"), ("x-plan", "free")],
                r#"200 | "api";q=2;w=315360000 | "api";r=0"#,
            ),
            (
                "GET /",
                &[("x-user-id", "a"), ("x-plan", "free")],
                r#"429 | "api";q=2;w=315360000 | "api";r=0"#,
            ),
        ],
        holds: &[
            (
                "rate_limit:token_bucket:api:315360000000000:x-user-id:a",
                "* 157680000000000 *",
            ),
            (
                "rate_limit:token_bucket:api:315360000000000:x-user-id:b",
                "3153600000000 3153600000000 *",
            ),
            (
                "rate_limit:token_bucket:api:315360000000000:x-user-id:c",
                "31536000000000 31536000000000 *",
            ),
            (
                "rate_limit:token_bucket:api:315360000000000:x-user-id:d",
                "31536000000000 31536000000000 *",
            ),
        ],
    },
    Case {
        covers: &["limit unit"],
        rules: "
            [[limit]]
            name = 'api'
            FIXED
            limit = 10
            key = 'global'
            cost = 'header:x-tokens'
            unit = 'tokens'
            plan = 'header:x-plan'
            plans.pro = { limit = 20 }
            [trust]
            proxies = ['127.0.0.1']
            headers = ['x-tokens', 'x-plan']",
        requests: &[
            (
                "GET /",
                &[("x-tokens", "4")],
                r#"200 | "api";q=10;qu="tokens";w=315360000 | "api";r=6"#,
            ),
            (
                "GET /",
                &[("x-plan", "pro")],
                r#"200 | "api";q=20;qu="tokens";w=315360000 | "api";r=15"#,
            ),
        ],
        holds: &[(
            "rate_limit:fixed_window:api:315360000000000:global",
            "1576800000000000 5",
        )],
    },
    Case {
        covers: &["limit lease"],
        // Less than one is refilled in a minute, so the bucket holds one less. The counter has the same rule and the same key.
        rules: "
            [[limit]]
            name = 'bucket'
            algorithm = 'token_bucket'
            limit = 3
            window = '3650d'
            key = 'global'
            lease = '1m'
            [[limit]]
            name = 'counter'
            algorithm = 'sliding_counter'
            limit = 3
            window = '3650d'
            key = 'global'
            lease = '1m'",
        requests: &[
            (
                "GET /",
                &[],
                r#"200 | "bucket";q=2;w=210240000, "counter";q=3;w=315360000 | "bucket";r=1, "counter";r=2"#,
            ),
            (
                "GET /",
                &[],
                r#"200 | "bucket";q=2;w=210240000, "counter";q=3;w=315360000 | "bucket";r=0, "counter";r=1"#,
            ),
            (
                "GET /",
                &[],
                r#"429 | "bucket";q=2;w=210240000, "counter";q=3;w=315360000 | "bucket";r=0"#,
            ),
        ],
        holds: &[
            ("rate_limit:sliding_counter:counter:315360000000000:1:global", "5 2"),
            (
                "rate_limit:token_bucket:bucket:315360000000000:lease60000000:global",
                "* 105120000000000 *",
            ),
        ],
    },
    Case {
        covers: &["limit shadow"],
        rules: "
            [[limit]]
            name = 'watched'
            FIXED
            limit = 1
            key = 'global'
            shadow = true
            [[limit]]
            name = 'api'
            FIXED
            limit = 2
            key = 'global'
            shadow = false",
        requests: &TWO_PASS,
        // A shadow limit does not count what it would have denied.
        holds: &[
            (
                "rate_limit:fixed_window:api:315360000000000:global",
                "1576800000000000 2",
            ),
            (
                "rate_limit:fixed_window:watched:315360000000000:global",
                "1576800000000000 1",
            ),
        ],
    },
];

#[tokio::test]
async fn every_field_of_a_limit_matches_the_reference() {
    check_all(CASES).await;
}
