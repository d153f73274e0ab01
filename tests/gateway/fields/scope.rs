//! `path` and `methods` of a limit: which requests it applies to.

use super::case::{Case, check_all};

const COUNTED: &str = r#"200 | "api";q=10;w=315360000 | "api";r=9"#;
const AGAIN: &str = r#"200 | "api";q=10;w=315360000 | "api";r=8"#;
const NOT_MATCHED: &str = "200 | - | -";

pub(super) const CASES: &[Case] = &[
    Case {
        covers: &["limit path"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'route'\npath = '/users/{id}/orders'",
        requests: &[
            ("GET /users/1/orders", &[], COUNTED),
            ("POST /users/2/orders?a=b", &[], AGAIN),
            ("GET /users/1", &[], NOT_MATCHED),
            ("GET /users/1/orders/2", &[], NOT_MATCHED),
            ("GET /users/1/orders/", &[], NOT_MATCHED),
        ],
        holds: &[(
            "rate_limit:fixed_window:api:315360000000000:/users/<id>/orders",
            "1576800000000000 2",
        )],
    },
    Case {
        covers: &["limit path"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'global'\npath = '/files/{*rest}'",
        requests: &[
            ("GET /files/a", &[], COUNTED),
            ("GET /files/a/b", &[], AGAIN),
            ("GET /files", &[], NOT_MATCHED),
            ("GET /files/", &[], NOT_MATCHED),
            ("GET /", &[], NOT_MATCHED),
        ],
        holds: &[(
            "rate_limit:fixed_window:api:315360000000000:global",
            "1576800000000000 2",
        )],
    },
    Case {
        covers: &["limit methods"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'global'\nmethods = ['GET', 'BREW']",
        requests: &[
            ("GET /", &[], COUNTED),
            ("BREW /", &[], AGAIN),
            ("HEAD /", &[], NOT_MATCHED),
            ("POST /", &[], NOT_MATCHED),
            ("OPTIONS /", &[], NOT_MATCHED),
        ],
        holds: &[(
            "rate_limit:fixed_window:api:315360000000000:global",
            "1576800000000000 2",
        )],
    },
    Case {
        covers: &["limit path", "limit methods"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'method'\nmethods = ['PUT', 'DELETE']\npath = '/orders/{id}'",
        requests: &[
            ("PUT /orders/1", &[], COUNTED),
            ("DELETE /orders/1", &[], COUNTED),
            ("GET /orders/1", &[], NOT_MATCHED),
            ("PUT /orders", &[], NOT_MATCHED),
        ],
        holds: &[
            (
                "rate_limit:fixed_window:api:315360000000000:method:DELETE",
                "1576800000000000 1",
            ),
            (
                "rate_limit:fixed_window:api:315360000000000:method:PUT",
                "1576800000000000 1",
            ),
        ],
    },
];

#[tokio::test]
async fn the_scope_of_a_limit_matches_the_reference() {
    check_all(CASES).await;
}
