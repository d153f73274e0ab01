//! The path of the original request is normalized as in the gateway.

use super::fixture::{LimitService, limit};

#[tokio::test]
async fn no_spelling_bypasses_a_limit() {
    let service = LimitService::start(&limit("files", 1, "path = '/files'\nkey = 'global'"), &[]);
    assert_eq!(service.status_of("/files").await, 200);
    for path in [
        "/files",
        "/%66iles",
        "//files",
        "/./files",
        "/x/..//files",
        "/%2e%2e/files?a=../x",
        "/files#x",
    ] {
        assert_eq!(service.status_of(path).await, 429, "{path}");
    }
    for path in ["/files/", "/Files", "/%2Ffiles", "/x?y=/files"] {
        assert_eq!(service.status_of(path).await, 200, "{path}");
    }
}

/// Proxies and applications accept them, although they are not valid in a URI.
#[tokio::test]
async fn unsafe_characters_count_as_their_escapes() {
    let rules = [
        limit("path", 1, "path = '/a%3Cb'\nkey = 'global'"),
        limit("query", 1, "key = 'query:filter'\noptional = true"),
    ];
    let service = LimitService::start(&rules.concat(), &[]);
    assert_eq!(service.status_of("/a%3Cb").await, 200);
    assert_eq!(service.status_of("/a<b").await, 429);
    assert_eq!(service.status_of("/?filter={\"a\":`1>0`}").await, 200);
    assert_eq!(service.status_of("/?filter={%22a%22:%601%3E0%60}").await, 429);
}
