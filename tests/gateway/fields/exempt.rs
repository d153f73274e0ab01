//! `[[exempt]]`: requests that are not counted.

use super::case::{Case, check_all};

const COUNTED: &str = r#"200 | "api";q=1;w=315360000 | "api";r=0"#;
const DENIED: &str = r#"429 | "api";q=1;w=315360000 | "api";r=0"#;
const EXEMPT: &str = "200 | - | -";

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
            ("GET /healthz", &[], EXEMPT),
            ("GET /healthz?verbose=1", &[], EXEMPT),
            ("GET /static/a/b.css", &[], EXEMPT),
            ("GET /healthz/", &[], DENIED),
            ("GET /static/", &[], DENIED),
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
            ("OPTIONS /", &[], EXEMPT),
            ("HEAD /", &[], EXEMPT),
            ("POST /", &[], DENIED),
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
            ("GET /", &[("x-forwarded-for", "10.1.2.3")], EXEMPT),
            ("GET /", &[("x-forwarded-for", "fd00::1")], EXEMPT),
            ("GET /", &[("x-forwarded-for", "11.0.0.1")], DENIED),
            // The client has sent the first address, and the proxy has added the second.
            ("GET /", &[("x-forwarded-for", "10.1.2.3, 192.0.2.1")], DENIED),
        ],
        holds: ONE,
    },
    Case {
        covers: &["exempt networks"],
        rules: "
            [[limit]]\nname = 'api'\nFIXED\nlimit = 1\nkey = 'global'
            [[exempt]]\nnetworks = ['127.0.0.0/8']",
        requests: &[
            ("GET /", &[], EXEMPT),
            ("GET /", &[("x-forwarded-for", "192.0.2.1")], EXEMPT),
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
            ("GET /metrics", &[("x-forwarded-for", "10.0.0.1")], EXEMPT),
            ("GET /metrics", &[("x-forwarded-for", "192.0.2.1")], DENIED),
            ("POST /metrics", &[("x-forwarded-for", "10.0.0.1")], DENIED),
            ("GET /", &[("x-forwarded-for", "10.0.0.1")], DENIED),
        ],
        holds: ONE,
    },
];

#[tokio::test]
async fn exemptions_match_the_reference() {
    check_all(CASES).await;
}
