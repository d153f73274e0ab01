//! `key`, `default` and `optional`: the key of a request, and its name in Redis.

use super::case::{Case, check_all};

const NINE: &str = r#"200 | "api";q=10;w=315360000 | "api";r=9"#;
const EIGHT: &str = r#"200 | "api";q=10;w=315360000 | "api";r=8"#;
const MISSING_KEY: &str = "400 | - | -";
const AMBIGUOUS_KEY: &str = "400 | - | -";

const ONCE: &str = "1576800000000000 1";
const TWICE: &str = "1576800000000000 2";

pub(super) const CASES: &[Case] = &[
    Case {
        covers: &["limit key", "key global"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'global'",
        requests: &[("GET /", &[], NINE), ("POST /a", &[("x-user-id", "1")], EIGHT)],
        holds: &[("rate_limit:fixed_window:api:315360000000000:global", TWICE)],
    },
    Case {
        covers: &["key ip"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'ip'",
        // No proxy is trusted.
        requests: &[
            ("GET /", &[], NINE),
            ("GET /", &[("x-forwarded-for", "192.0.2.1")], EIGHT),
        ],
        holds: &[("rate_limit:fixed_window:api:315360000000000:ip:127.0.0.1", TWICE)],
    },
    Case {
        covers: &["key route"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'route'\npath = '/users/{id}'",
        requests: &[
            ("GET /users/1", &[], NINE),
            ("GET /users/2", &[], EIGHT),
            ("GET /", &[], "200 | - | -"),
        ],
        holds: &[("rate_limit:fixed_window:api:315360000000000:/users/<id>", TWICE)],
    },
    Case {
        covers: &["key route"],
        // A gateway has no routes.
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'route'",
        requests: &[("GET /users/1", &[], NINE), ("GET /", &[], EIGHT)],
        holds: &[("rate_limit:fixed_window:api:315360000000000:~unmatched", TWICE)],
    },
    Case {
        covers: &["key method"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'method'",
        requests: &[
            ("GET /", &[], NINE),
            ("POST /", &[], NINE),
            ("GET /", &[], EIGHT),
            ("BREW /", &[], NINE),
        ],
        holds: &[
            ("rate_limit:fixed_window:api:315360000000000:method:GET", TWICE),
            ("rate_limit:fixed_window:api:315360000000000:method:POST", ONCE),
            ("rate_limit:fixed_window:api:315360000000000:method:other", ONCE),
        ],
    },
    Case {
        covers: &["key header"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'header:x-user-id'",
        requests: &[
            ("GET /", &[("x-user-id", "alice")], NINE),
            ("GET /", &[("x-user-id", "bob")], NINE),
            ("GET /", &[("X-User-Id", "alice")], EIGHT),
            ("GET /", &[("x-user-id", "a:b")], NINE),
            ("GET /", &[], MISSING_KEY),
            ("GET /", &[("x-user-id", "x"), ("x-user-id", "alice")], AMBIGUOUS_KEY),
        ],
        holds: &[
            // What `printf a:b | sha256sum | cut -c1-32` prints.
            (
                "rate_limit:fixed_window:api:315360000000000:x-user-id:#6783a31eabf68ccc0660f935c0826282",
                ONCE,
            ),
            ("rate_limit:fixed_window:api:315360000000000:x-user-id:alice", TWICE),
            ("rate_limit:fixed_window:api:315360000000000:x-user-id:bob", ONCE),
        ],
    },
    Case {
        covers: &["key apikey"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'apikey:x-api-key'",
        requests: &[
            ("GET /", &[("x-api-key", "secret")], NINE),
            ("GET /", &[("x-api-key", "secret")], EIGHT),
            ("GET /", &[("authorization", "Bearer secret")], MISSING_KEY),
        ],
        // What `printf secret | sha256sum | cut -c1-32` prints: no secret is in Redis.
        holds: &[(
            "rate_limit:fixed_window:api:315360000000000:apikey:2bb80d537b1da3e38bd30361aa855686",
            TWICE,
        )],
    },
    Case {
        covers: &["key apikey"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'apikey:authorization'",
        requests: &[
            ("GET /", &[("authorization", "Bearer secret")], NINE),
            ("GET /", &[("authorization", "bearer secret")], EIGHT),
            ("GET /", &[("authorization", "Basic secret")], MISSING_KEY),
        ],
        holds: &[(
            "rate_limit:fixed_window:api:315360000000000:apikey:2bb80d537b1da3e38bd30361aa855686",
            TWICE,
        )],
    },
    Case {
        covers: &["key query"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'query:tenant'",
        requests: &[
            ("GET /?tenant=acme", &[], NINE),
            ("GET /?a=b&tenant=ac%6De&tenant=acme", &[], EIGHT),
            ("GET /?tenant=x", &[], NINE),
            ("GET /?tenant=x&tenant=acme", &[], AMBIGUOUS_KEY),
            ("GET /?tenant=x&ten%61nt=acme", &[], AMBIGUOUS_KEY),
            ("GET /?Tenant=x", &[], MISSING_KEY),
        ],
        holds: &[
            ("rate_limit:fixed_window:api:315360000000000:query/tenant:acme", TWICE),
            ("rate_limit:fixed_window:api:315360000000000:query/tenant:x", ONCE),
        ],
    },
    Case {
        covers: &["key cookie"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'cookie:session'",
        requests: &[
            ("GET /", &[("cookie", "session=8f3a")], NINE),
            ("GET /", &[("cookie", "a=b; session=8f3a")], EIGHT),
            ("GET /", &[("cookie", "sessions=8f3a")], MISSING_KEY),
            ("GET /", &[("cookie", "session=x; session=8f3a")], AMBIGUOUS_KEY),
            (
                "GET /",
                &[("cookie", "session=x"), ("cookie", "session=8f3a")],
                AMBIGUOUS_KEY,
            ),
        ],
        holds: &[("rate_limit:fixed_window:api:315360000000000:cookie/session:8f3a", TWICE)],
    },
    Case {
        covers: &["limit key"],
        rules: "
            [[limit]]
            name = 'api'
            FIXED
            limit = 10
            key = ['header:x-user-id', 'route', 'method', 'ip', 'query:tenant', 'cookie:session', 'global']
            path = '/api/{*rest}'",
        requests: &[
            (
                "GET /api/a?tenant=3",
                &[("x-user-id", "1"), ("cookie", "session=2")],
                NINE,
            ),
            (
                "GET /api/b/c?tenant=3",
                &[("x-user-id", "1"), ("cookie", "session=2")],
                EIGHT,
            ),
            (
                "GET /api/a",
                &[("x-user-id", "1"), ("cookie", "session=2")],
                MISSING_KEY,
            ),
        ],
        holds: &[(
            "rate_limit:fixed_window:api:315360000000000:\
             x-user-id:1:/api/<*rest>:method:GET:ip:127.0.0.1:query/tenant:3:cookie/session:2:(global)",
            TWICE,
        )],
    },
    Case {
        covers: &["limit default"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = 'header:x-user-id'\ndefault = 'anonymous'",
        requests: &[
            ("GET /", &[], NINE),
            ("GET /", &[("x-user-id", "")], EIGHT),
            // A header value cannot collide with the default key.
            ("GET /", &[("x-user-id", "anonymous")], NINE),
            ("GET /", &[("x-user-id", "alice")], NINE),
        ],
        holds: &[
            ("rate_limit:fixed_window:api:315360000000000:x-user-id:alice", ONCE),
            ("rate_limit:fixed_window:api:315360000000000:x-user-id:anonymous", ONCE),
            ("rate_limit:fixed_window:api:315360000000000:~anonymous", TWICE),
        ],
    },
    Case {
        covers: &["limit optional"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = ['header:x-user-id', 'ip']\noptional = true",
        requests: &[
            ("GET /", &[], "200 | - | -"),
            ("GET /", &[("x-user-id", "")], "200 | - | -"),
            ("GET /", &[("x-user-id", "alice")], NINE),
            ("GET /", &[("x-user-id", "x"), ("x-user-id", "alice")], AMBIGUOUS_KEY),
        ],
        holds: &[(
            "rate_limit:fixed_window:api:315360000000000:x-user-id:alice:ip:127.0.0.1",
            ONCE,
        )],
    },
    Case {
        covers: &["limit default"],
        rules: "[[limit]]\nname = 'api'\nFIXED\nlimit = 10\nkey = ['header:x-user-id', 'query:tenant']\ndefault = 'ip'",
        requests: &[
            ("GET /", &[("x-user-id", "1")], NINE),
            ("GET /", &[], NINE),
            ("GET /", &[], EIGHT),
        ],
        holds: &[
            (
                "rate_limit:fixed_window:api:315360000000000:ip:127.0.0.1:ip:127.0.0.1",
                TWICE,
            ),
            (
                "rate_limit:fixed_window:api:315360000000000:x-user-id:1:ip:127.0.0.1",
                ONCE,
            ),
        ],
    },
];

#[tokio::test]
async fn every_key_matches_the_reference() {
    check_all(CASES).await;
}
