//! Which requests a limit applies to: by path, by method, and by both.

use axum::{Router, http::Method, routing::any};
use tollgate::{Decision, RulesLayer};

use super::fixture::{NOTHING, Reply, Server, TestStore, on_both_stores, rules, serve, ten};

on_both_stores![
    a_path_matches_as_in_axum,
    only_listed_methods_match,
    path_and_methods_both_have_to_match,
    overlapping_paths_charge_every_matching_limit,
    a_layer_inside_of_a_nested_router_sees_the_rest_of_the_path,
];

/// Whether a request is counted.
async fn is_counted(server: &Server, method: &str, path: &str) -> bool {
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let reply = Reply::to(server.request_by(method, path)).await;
    assert_eq!(reply.status, 200, "{path}");
    reply.limits() != NOTHING
}

async fn a_path_matches_as_in_axum<St: TestStore>() {
    let cases: [(&str, &[&str], &[&str]); 10] = [
        ("/", &["/", "/?a=b"], &["/a", "//"]),
        (
            "/api/search",
            &["/api/search", "/api/search?q=1"],
            &[
                "/api/search/",
                "/api",
                "/api/search/more",
                "/API/search",
                "/api//search",
                "/api/sear%63h",
            ],
        ),
        ("/api/search/", &["/api/search/"], &["/api/search"]),
        (
            "/users/{id}",
            &["/users/1", "/users/a.b", "/users/%2F"],
            &["/users", "/users/", "/users/1/", "/users/1/orders"],
        ),
        (
            "/users/{id}/orders",
            &["/users/1/orders", "/users//orders"],
            &["/users/1", "/users/orders", "/users/1/orders/2"],
        ),
        (
            "/files/{*rest}",
            &["/files/a", "/files/a/b", "/files/a/", "/files//"],
            &["/files", "/files/", "/file/a"],
        ),
        ("/{*rest}", &["/a", "/a/b"], &["/"]),
        ("/v1-{name}", &["/v1-a"], &["/v1-", "/v1", "/v2-a"]),
        ("/gr%C3%B6%C3%9Fe", &["/gr%C3%B6%C3%9Fe"], &["/gr%c3%b6%c3%9fe"]),
        ("/a{{b}}", &[], &["/ab", "/a%7Bb%7D", "/a%7B%7Bb%7D%7D"]),
    ];
    for (pattern, matching, others) in cases {
        let (store, _) = St::fresh();
        let file = ten("api", &format!("key = \"global\"\npath = \"{pattern}\""));
        let app = Router::new()
            .route(pattern, any(async || "matched"))
            .fallback(any(async || "other"))
            .layer(RulesLayer::new(rules(&file), store));
        let server = Server::start(app).await;
        for path in matching.iter().chain(others) {
            let reply = server.get(path).await;
            let matches = matching.contains(path);
            assert_eq!(reply.limits() != NOTHING, matches, "{path} by {pattern}");
            assert_eq!(reply.body == "matched", matches, "{path} by {pattern}");
        }
    }
}

async fn only_listed_methods_match<St: TestStore>() {
    let (server, ..) = serve::<St>(&ten("api", "key = \"global\"\nmethods = [\"GET\", \"POST\", \"BREW\"]")).await;
    for (method, counted) in [
        ("GET", true),
        ("POST", true),
        ("BREW", true),
        // HEAD costs as much as GET, but is not listed.
        ("HEAD", false),
        ("PUT", false),
        ("OPTIONS", false),
        ("get", false),
    ] {
        assert_eq!(is_counted(&server, method, "/").await, counted, "{method}");
    }
}

async fn path_and_methods_both_have_to_match<St: TestStore>() {
    let file = ten(
        "api",
        "key = \"global\"\npath = \"/orders/{id}\"\nmethods = [\"PUT\", \"DELETE\"]",
    );
    let (server, ..) = serve::<St>(&file).await;
    for (method, path, counted) in [
        ("PUT", "/orders/1", true),
        ("DELETE", "/orders/1", true),
        ("GET", "/orders/1", false),
        ("PUT", "/orders", false),
        ("GET", "/orders", false),
    ] {
        assert_eq!(is_counted(&server, method, path).await, counted, "{method} {path}");
    }
}

async fn overlapping_paths_charge_every_matching_limit<St: TestStore>() {
    let file = ten("all", "key = \"global\"\npath = \"/{*rest}\"")
        + &ten("api", "key = \"global\"\npath = \"/api/{*rest}\"")
        + &ten("user", "key = \"route\"\npath = \"/api/{version}/users\"");
    let (server, ..) = serve::<St>(&file).await;
    for (path, expected) in [
        ("/", ""),
        ("/a", "all global, 9 left"),
        ("/api/a", "all global, 8 left\napi global, 9 left"),
        (
            "/api/v1/users",
            "all global, 7 left\napi global, 8 left\nuser /api/<version>/users, 9 left",
        ),
        (
            "/api/v2/users",
            "all global, 6 left\napi global, 7 left\nuser /api/<version>/users, 8 left",
        ),
    ] {
        assert_eq!(server.get(path).await.body, expected, "{path}");
    }
}

async fn a_layer_inside_of_a_nested_router_sees_the_rest_of_the_path<St: TestStore>() {
    let file =
        ten("whole", "key = \"global\"\npath = \"/api/search\"") + &ten("rest", "key = \"global\"\npath = \"/search\"");
    let (store, _) = St::fresh();
    let layer = || RulesLayer::new(rules(&file), store.clone());
    let search = || Router::new().route("/search", any(async |decision: Decision| names(&decision)));
    let outside = Server::start(Router::new().nest("/api", search()).layer(layer())).await;
    assert_eq!(outside.get("/api/search").await.body, "whole");
    let inside = Server::start(Router::new().nest("/api", search().layer(layer()))).await;
    assert_eq!(inside.get("/api/search").await.body, "rest");
}

fn names(decision: &Decision) -> String {
    let names = decision.tiers().iter().map(|tier| tier.limit().name());
    names.collect::<Vec<_>>().join(" ")
}
