//! `path` and `methods` of a limit: which requests it is for.

use super::case::{Case, try_all};

const COUNTED: &str = r#"200 | "api";q=10;w=315360000 | "api";r=9"#;
const AGAIN: &str = r#"200 | "api";q=10;w=315360000 | "api";r=8"#;
const FREE: &str = "200 | - | -";

pub(super) const CASES: &[Case] = &[
    Case {
        covers: &["limit path"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'route'\npath = '/users/{id}/orders'",
        requests: &[
            ("GET /users/1/orders", &[], COUNTED),
            ("POST /users/2/orders?a=b", &[], AGAIN),
            ("GET /users/1", &[], FREE),
            ("GET /users/1/orders/2", &[], FREE),
            ("GET /users/1/orders/", &[], FREE),
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
            ("GET /files", &[], FREE),
            ("GET /files/", &[], FREE),
            ("GET /", &[], FREE),
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
            ("HEAD /", &[], FREE),
            ("POST /", &[], FREE),
            ("OPTIONS /", &[], FREE),
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
            ("GET /orders/1", &[], FREE),
            ("PUT /orders", &[], FREE),
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
async fn a_limit_is_for_the_requests_that_the_reference_says() {
    try_all(CASES).await;
}
