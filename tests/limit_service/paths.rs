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
