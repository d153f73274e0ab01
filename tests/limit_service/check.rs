//! `/check`: statuses, headers and bodies of admitted and denied requests.

use axum::http::Method;

use super::fixture::{LimitService, limit};
use support::http::Reply;

const POLICY: &str = r#""all";q=2;w=315360000"#;

fn two_requests() -> String {
    limit("all", 2, "anchored = true\nkey = 'global'")
}

/// `Limit Remaining | RateLimit-Policy`, without the times.
fn limits(reply: &Reply) -> [String; 3] {
    ["x-ratelimit-limit", "x-ratelimit-remaining", "ratelimit-policy"].map(|name| reply.header(name))
}

#[tokio::test]
async fn an_admitted_request_is_an_empty_200_with_the_limits() {
    let service = LimitService::start(&two_requests(), &[]);
    for remaining in ["1", "0"] {
        let reply = Reply::to(service.check("/")).await;
        assert_eq!((reply.status, &*reply.body), (200, ""));
        assert_eq!(limits(&reply), ["2", remaining, POLICY]);
        assert_eq!(reply.header("content-length"), "0");
        assert_eq!(reply.header("content-type"), "-");
        assert!(reply.header("ratelimit").starts_with(&format!("\"all\";r={remaining}")));
    }
}

#[tokio::test]
async fn a_denied_request_has_the_limits_and_a_body_with_either_status() {
    let service = LimitService::start(&two_requests(), &[]);
    for _ in 0..2 {
        let reply = Reply::to(service.check_at("/check?deny=403", "/")).await;
        assert_eq!((reply.status, &*reply.body), (200, ""));
    }
    for (target, status) in [("/check", 429), ("/check?", 429), ("/check?deny=403", 403)] {
        let reply = Reply::to(service.check_at(target, "/")).await;
        assert_eq!(reply.status, status, "{target}");
        assert_eq!(limits(&reply), ["2", "0", POLICY], "{target}");
        assert_eq!(reply.header("content-type"), "application/json");
        let json = reply.json();
        assert_eq!(json["error"], "rate_limit_exceeded");
        assert_eq!(reply.header("retry-after"), json["retry_after"].to_string());
        assert!(json["message"].is_string(), "{json}");
    }
}

/// A missing key and a failing store are not denials: the operator has to notice them.
#[tokio::test]
async fn only_denials_become_403() {
    let service = LimitService::start(&limit("user", 2, "key = 'header:x-user-id'"), &[]);
    let reply = Reply::to(service.check_at("/check?deny=403", "/")).await;
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["error"], "rate_limit_key_missing");
}

/// A gRPC client expects a denial with the status 200, by which a proxy would let the request pass.
#[tokio::test]
async fn a_denied_grpc_request_is_not_a_200() {
    let service = LimitService::start(&two_requests(), &[]);
    for (target, status) in [
        ("/check", 200),
        ("/check", 200),
        ("/check", 429),
        ("/check?deny=403", 403),
    ] {
        let check = service.request(Method::GET, target);
        let check = check
            .header("x-forwarded-method", "POST")
            .header("x-forwarded-uri", "/service/Method")
            .header("content-type", "application/grpc");
        assert_eq!(Reply::to(check).await.status, status, "{target}");
    }
}

#[tokio::test]
async fn the_original_method_and_path_select_the_limits() {
    let scope = "methods = ['DELETE']\npath = '/files/{id}'\nkey = 'query:user'";
    let service = LimitService::start(&limit("deletions", 1, scope), &[]);
    let check = async |method: &str, uri: &str| {
        let check = service.request(Method::GET, "/check");
        let check = check
            .header("x-forwarded-method", method)
            .header("x-forwarded-uri", uri);
        Reply::to(check).await.status
    };
    assert_eq!(check("DELETE", "/files/1?user=alice").await, 200);
    assert_eq!(check("DELETE", "/files/2?user=alice").await, 429);
    assert_eq!(check("DELETE", "/files/2?user=bob").await, 200);
    assert_eq!(check("GET", "/files/2?user=alice").await, 200);
    assert_eq!(check("DELETE", "/other?user=alice").await, 200);
}

/// A limit by one of them would count by what a proxy describes, not by what the client sent.
#[tokio::test]
async fn the_description_is_not_part_of_the_original_request() {
    for name in ["x-forwarded-method", "x-forwarded-uri"] {
        let rules = limit("all", 1, &format!("key = 'header:{name}'\ndefault = 'none'"));
        let service = LimitService::start(&rules, &[]);
        assert_eq!(service.status_of("/a").await, 200);
        assert_eq!(service.status_of("/b").await, 429, "{name}");
    }
}

#[tokio::test]
async fn get_head_and_post_ask_the_same() {
    let service = LimitService::start(&two_requests(), &[]);
    let check = async |method: Method| {
        let check = service.request(method, "/check");
        Reply::to(check.header("x-forwarded-method", "GET").header("x-forwarded-uri", "/")).await
    };
    assert_eq!(limits(&check(Method::POST).await), ["2", "1", POLICY]);
    assert_eq!(limits(&check(Method::HEAD).await), ["2", "0", POLICY]);
    let denied = check(Method::HEAD).await;
    assert_eq!((denied.status, &*denied.body), (429, ""));
    assert_eq!(limits(&denied), ["2", "0", POLICY]);
    assert_eq!(check(Method::GET).await.status, 429);
}

#[tokio::test]
async fn other_methods_are_a_405_that_charges_nothing() {
    let service = LimitService::start(&two_requests(), &[]);
    for method in [Method::PUT, Method::DELETE, Method::OPTIONS, Method::PATCH] {
        let check = service.request(method.clone(), "/check");
        let reply = Reply::to(check.header("x-forwarded-method", "GET").header("x-forwarded-uri", "/")).await;
        assert_eq!((reply.status, &*reply.header("allow")), (405, "GET, HEAD, POST"));
        let json = reply.json();
        assert_eq!(json["error"], "method_not_allowed");
        assert!(
            json["message"].as_str().unwrap().contains("X-Forwarded-Method"),
            "{json}"
        );
    }
    assert_eq!(limits(&Reply::to(service.check("/")).await), ["2", "1", POLICY]);
}

#[tokio::test]
async fn other_paths_are_a_404_that_names_the_endpoints() {
    let service = LimitService::start(&two_requests(), &[]);
    for path in ["/", "/check/", "/Check", "//check", "/hello?deny=403"] {
        let reply = Reply::to(service.check_at(path, "/")).await;
        assert_eq!(reply.status, 404, "{path}");
        let json = reply.json();
        assert_eq!(json["error"], "not_found");
        for text in ["/check", "/healthz", "X-Forwarded-Uri"] {
            assert!(json["message"].as_str().unwrap().contains(text), "{json}");
        }
    }
    assert_eq!(limits(&Reply::to(service.check("/")).await), ["2", "1", POLICY]);
}
