//! `algorithm`, and the fields that configure it.

use super::case::{Case, Request, check_all};

pub(super) const TWO_PASS: [Request; 3] = [
    ("GET /", &[], r#"200 | "api";q=2;w=315360000 | "api";r=1"#),
    ("GET /", &[], r#"200 | "api";q=2;w=315360000 | "api";r=0"#),
    ("GET /", &[], r#"429 | "api";q=2;w=315360000 | "api";r=0"#),
];

pub(super) const CASES: &[Case] = &[
    Case {
        covers: &["limit algorithm", "algorithm token_bucket"],
        rules: "
            [[limit]]
            name = 'api'
            algorithm = 'token_bucket'
            limit = 2
            window = '3650d'
            key = 'global'",
        requests: &TWO_PASS,
        holds: &[(
            "rate_limit:token_bucket:api:315360000000000:global",
            "* 157680000000000 *",
        )],
    },
    Case {
        covers: &["algorithm leaky_bucket", "limit queue"],
        rules: "
            [[limit]]
            name = 'api'
            algorithm = 'leaky_bucket'
            queue = false
            limit = 2
            window = '3650d'
            key = 'global'",
        requests: &TWO_PASS,
        holds: &[(
            "rate_limit:leaky_bucket:api:315360000000000:global",
            "* 157680000000000 *",
        )],
    },
    Case {
        covers: &["algorithm sliding_log"],
        rules: "
            [[limit]]
            name = 'api'
            algorithm = 'sliding_log'
            limit = 2
            window = '3650d'
            key = 'global'",
        requests: &TWO_PASS,
        holds: &[("rate_limit:sliding_log:api:315360000000000:global", "* *")],
    },
    Case {
        covers: &["algorithm sliding_counter"],
        rules: "
            [[limit]]
            name = 'api'
            algorithm = 'sliding_counter'
            limit = 2
            window = '3650d'
            key = 'global'",
        requests: &TWO_PASS,
        // Window 5 of ten years since 1970.
        holds: &[("rate_limit:sliding_counter:api:315360000000000:1:global", "5 2")],
    },
    Case {
        covers: &["limit sub_windows"],
        rules: "
            [[limit]]
            name = 'api'
            algorithm = 'sliding_counter'
            sub_windows = 10
            limit = 2
            window = '3650d'
            key = 'global'",
        requests: &TWO_PASS,
        // The index of the 365-day bucket depends on the time of the test.
        holds: &[("rate_limit:sliding_counter:api:315360000000000:10:global", "* 2")],
    },
    Case {
        covers: &["limit anchored"],
        rules: "
            [[limit]]
            name = 'api'
            FIXED
            anchored = true
            limit = 2
            key = 'global'",
        requests: &TWO_PASS,
        holds: &[("rate_limit:fixed_window:api:315360000000000:anchored:global", "* 2")],
    },
    Case {
        covers: &["limit capacity"],
        rules: "
            [[limit]]
            name = 'api'
            algorithm = 'token_bucket'
            limit = 10
            capacity = 2
            window = '3650d'
            key = 'global'",
        // A fifth of the quota refills in two of the ten years.
        requests: &[
            ("GET /", &[], r#"200 | "api";q=2;w=63072000 | "api";r=1"#),
            ("GET /", &[], r#"200 | "api";q=2;w=63072000 | "api";r=0"#),
            ("GET /", &[], r#"429 | "api";q=2;w=63072000 | "api";r=0"#),
        ],
        holds: &[(
            "rate_limit:token_bucket:api:315360000000000:global",
            "* 31536000000000 *",
        )],
    },
    Case {
        covers: &["limit max_wait"],
        rules: "
            [[limit]]
            name = 'api'
            algorithm = 'leaky_bucket'
            max_wait = '1d'
            limit = 2
            window = '3650d'
            key = 'global'",
        // One more request fits in the queue, but it would wait for five years.
        requests: &[
            ("GET /", &[], r#"200 | "api";q=2;w=315360000 | "api";r=0"#),
            ("GET /", &[], r#"429 | "api";q=2;w=315360000 | "api";r=0"#),
        ],
        holds: &[(
            "rate_limit:leaky_bucket:api:315360000000000:global",
            "157680000000000 157680000000000 *",
        )],
    },
];

#[tokio::test]
async fn every_algorithm_matches_the_reference() {
    check_all(CASES).await;
}
