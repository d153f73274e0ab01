//! Checks that do not describe a request are a 400 that says what to configure, and charge nothing.

use axum::http::Method;
use reqwest::RequestBuilder;

use super::fixture::{LimitService, limit};
use support::http::Reply;

const METHOD: &str = "x-forwarded-method";
const URI: &str = "x-forwarded-uri";

/// The headers of a check, and how the message begins.
const INVALID: [(&[(&str, &str)], &str); 12] = [
    (&[], "X-Forwarded-Method is missing."),
    (&[(URI, "/")], "X-Forwarded-Method is missing."),
    (&[(METHOD, "GET")], "X-Forwarded-Uri is missing."),
    // A client could send the name that its proxy does not overwrite.
    (
        &[(METHOD, "GET"), ("x-original-uri", "/"), ("x-original-url", "/")],
        "X-Forwarded-Uri is missing.",
    ),
    (
        &[(METHOD, "GET"), (METHOD, "GET"), (URI, "/")],
        "X-Forwarded-Method must not be repeated.",
    ),
    (
        &[(METHOD, "GET"), (URI, "/"), (URI, "/")],
        "X-Forwarded-Uri must not be repeated.",
    ),
    (
        &[(METHOD, "GET, POST"), (URI, "/")],
        "X-Forwarded-Method must be an HTTP method.",
    ),
    (
        &[(METHOD, ""), (URI, "/")],
        "X-Forwarded-Method must be an HTTP method.",
    ),
    (
        &[(METHOD, "GET"), (URI, "")],
        "X-Forwarded-Uri must be a path that begins with a slash",
    ),
    (
        &[(METHOD, "GET"), (URI, "*")],
        "X-Forwarded-Uri must be a path that begins with a slash",
    ),
    (
        &[(METHOD, "GET"), (URI, "http://a/files")],
        "X-Forwarded-Uri must be a path that begins with a slash",
    ),
    (
        &[(METHOD, "GET"), (URI, "files")],
        "X-Forwarded-Uri must be a path that begins with a slash",
    ),
];

async fn message(check: RequestBuilder) -> String {
    let reply = Reply::to(check).await;
    assert_eq!(
        (reply.status, &*reply.header("content-type")),
        (400, "application/json")
    );
    let json = reply.json();
    assert_eq!(json["error"], "bad_request");
    json["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn missing_repeated_and_invalid_headers_name_the_fix() {
    let service = LimitService::start(&limit("all", 1, "key = 'global'"), &[]);
    for (headers, begins) in INVALID {
        let check = service.request(Method::GET, "/check");
        let check = headers
            .iter()
            .fold(check, |check, (name, value)| check.header(*name, *value));
        let message = message(check).await;
        assert!(message.starts_with(begins), "{message}");
        let nginx = match begins.starts_with("X-Forwarded-Method") {
            true => "add proxy_set_header X-Forwarded-Method $request_method;",
            false => "add proxy_set_header X-Forwarded-Uri $request_uri;",
        };
        assert!(message.ends_with(nginx), "{message}");
    }
    // None of them was charged.
    assert_eq!(service.status_of("/").await, 200);
    assert_eq!(service.answers("bad_request").await, 12.0);
}

/// These are errors of the client, which receives the message.
#[tokio::test]
async fn an_invalid_path_of_the_client_is_named() {
    let service = LimitService::start(&limit("all", 1, "key = 'global'"), &[]);
    for (path, begins) in [
        ("/a b", "The path or the query is invalid."),
        ("/a\\b", "The path must not contain a backslash"),
        ("/%zz", "The path must have two hexadecimal digits"),
    ] {
        let message = message(service.check(path)).await;
        assert!(message.starts_with(begins) && !message.contains("nginx"), "{message}");
    }
    assert_eq!(service.status_of("/").await, 200);
}

#[tokio::test]
async fn unknown_queries_name_the_fix() {
    let service = LimitService::start(&limit("all", 1, "key = 'global'"), &[]);
    for query in [
        "deny=429",
        "deny=401",
        "deny=",
        "deny",
        "Deny=403",
        "deny=403&deny=403",
        "deny=403&x=1",
        "denied=403",
        "user=alice",
    ] {
        let message = message(service.check_at(&format!("/check?{query}"), "/")).await;
        for text in ["deny=403", "X-Forwarded-Uri"] {
            assert!(message.contains(text), "{query}: {message}");
        }
    }
    assert_eq!(service.status_of("/").await, 200);
}
