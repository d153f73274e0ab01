//! `[[exempt]]`: requests that no limit is for.

use super::case::{Case, try_all};

const COUNTED: &str = r#"200 | "api";q=1;w=315360000 | "api";r=0"#;
const REFUSED: &str = r#"429 | "api";q=1;w=315360000 | "api";r=0"#;
const FREE: &str = "200 | - | -";

const ONE: &[(&str, &str)] = &[(
    "rate_limit:fixed_window:api:315360000000000:global",
    "1576800000000000 1",
)];

pub(super) const CASES: &[Case] = &[
    Case {
        covers: &["exempt path"],
        rules: "
            [[limit]]\nname = 'api'\nFIXED\nlimit = 1\nkey = 'global'
            [[exempt]]\npath = '/healthz'
            [[exempt]]\npath = '/static/{*file}'",
        requests: &[
            ("GET /", &[], COUNTED),
            ("GET /healthz", &[], FREE),
            ("GET /healthz?verbose=1", &[], FREE),
            ("GET /static/a/b.css", &[], FREE),
            ("GET /healthz/", &[], REFUSED),
            ("GET /static/", &[], REFUSED),
        ],
        holds: ONE,
    },
    Case {
        covers: &["exempt methods"],
        rules: "
            [[limit]]\nname = 'api'\nFIXED\nlimit = 1\nkey = 'global'
            [[exempt]]\nmethods = ['OPTIONS', 'HEAD']",
        requests: &[
            ("GET /", &[], COUNTED),
            ("OPTIONS /", &[], FREE),
            ("HEAD /", &[], FREE),
            ("POST /", &[], REFUSED),
        ],
        holds: ONE,
    },
    Case {
        covers: &["exempt networks"],
        rules: "
            [[limit]]\nname = 'api'\nFIXED\nlimit = 1\nkey = 'global'
            [[exempt]]\nnetworks = ['10.0.0.0/8', 'fd00::/8']
            [trust]\nproxies = ['127.0.0.1']",
        requests: &[
            ("GET /", &[], COUNTED),
            ("GET /", &[("x-forwarded-for", "10.1.2.3")], FREE),
            ("GET /", &[("x-forwarded-for", "fd00::1")], FREE),
            ("GET /", &[("x-forwarded-for", "11.0.0.1")], REFUSED),
            // What a client has claimed before the proxy saw it.
            ("GET /", &[("x-forwarded-for", "10.1.2.3, 192.0.2.1")], REFUSED),
        ],
        holds: ONE,
    },
    Case {
        covers: &["exempt networks"],
        rules: "
            [[limit]]\nname = 'api'\nFIXED\nlimit = 1\nkey = 'global'
            [[exempt]]\nnetworks = ['127.0.0.0/8']",
        requests: &[
            ("GET /", &[], FREE),
            ("GET /", &[("x-forwarded-for", "192.0.2.1")], FREE),
        ],
        holds: &[],
    },
    Case {
        covers: &["exempt path", "exempt methods", "exempt networks"],
        rules: "
            [[limit]]\nname = 'api'\nFIXED\nlimit = 1\nkey = 'global'
            [[exempt]]\nmethods = ['GET']\npath = '/metrics'\nnetworks = ['10.0.0.0/8']
            [trust]\nproxies = ['127.0.0.1']",
        requests: &[
            ("GET /", &[], COUNTED),
            ("GET /metrics", &[("x-forwarded-for", "10.0.0.1")], FREE),
            ("GET /metrics", &[("x-forwarded-for", "192.0.2.1")], REFUSED),
            ("POST /metrics", &[("x-forwarded-for", "10.0.0.1")], REFUSED),
            ("GET /", &[("x-forwarded-for", "10.0.0.1")], REFUSED),
        ],
        holds: ONE,
    },
];

#[tokio::test]
async fn the_exempt_are_those_that_the_reference_says() {
    try_all(CASES).await;
}
