//! What each kind of key counts, and its text in the store.

use axum::http::Method;
use tollgate::Key;

use super::fixture::{Reply, TestStore, on_both_stores, rules, send, serve, ten};

on_both_stores![
    each_kind_of_key_equals_that_of_its_extractor,
    a_route_with_a_path_is_the_pattern,
    a_route_without_a_path_is_the_one_that_axum_matched,
    a_method_is_a_key,
    parts_are_joined_with_colons,
    different_identities_never_share_a_key,
    the_store_counts_under_the_key_that_handlers_see,
];

/// The keys that a request was charged under, as the handler returns them.
fn keys(reply: &Reply) -> String {
    assert_eq!(reply.status, 200, "{}", reply.body);
    let keys = reply.body.lines().map(|line| {
        let (_, key) = line.split_once(' ').unwrap();
        key.rsplit_once(", ").unwrap().0
    });
    keys.collect::<Vec<_>>().join(" ")
}

async fn each_kind_of_key_equals_that_of_its_extractor<St: TestStore>() {
    // The output of `printf secret | sha256sum | cut -c1-32`.
    let secret = "apikey:2bb80d537b1da3e38bd30361aa855686";
    for (key, path, headers, expected) in [
        ("global", "/", &[][..], "global"),
        ("ip", "/", &[], "ip:127.0.0.1"),
        ("header:x-user-id", "/", &[("x-user-id", "12345")], "x-user-id:12345"),
        ("header:X-User-Id", "/", &[("x-user-id", "12345")], "x-user-id:12345"),
        ("apikey:x-api-key", "/", &[("x-api-key", "secret")], secret),
        ("apikey:X-Api-Key", "/", &[("x-api-key", "secret")], secret),
        (
            "apikey:authorization",
            "/",
            &[("authorization", "Bearer secret")],
            secret,
        ),
        (
            "apikey:Authorization",
            "/",
            &[("authorization", "bearer   secret")],
            secret,
        ),
        (
            "query:tenant",
            "/?a=b&tenant=ac%6De&tenant=acme",
            &[],
            "query/tenant:acme",
        ),
        (
            "cookie:session",
            "/",
            &[("cookie", "a=b; session=8f3a")],
            "cookie/session:8f3a",
        ),
    ] {
        for key in [format!("\"{key}\""), format!("[\"{key}\"]")] {
            let (server, ..) = serve::<St>(&ten("api", &format!("key = {key}"))).await;
            assert_eq!(keys(&send(&server, path, headers).await), expected, "{key}");
        }
    }
}

async fn a_route_with_a_path_is_the_pattern<St: TestStore>() {
    for (pattern, path, expected) in [
        ("/users/{id}", "/users/1", "/users/<id>"),
        ("/{*rest}", "/users/1", "/<*rest>"),
        ("/search", "/search?q=1", "/search"),
    ] {
        let (server, ..) = serve::<St>(&ten("api", &format!("key = \"route\"\npath = \"{pattern}\""))).await;
        assert_eq!(keys(&server.get(path).await), expected);
    }
}

async fn a_route_without_a_path_is_the_one_that_axum_matched<St: TestStore>() {
    let (server, ..) = serve::<St>(&ten("api", "key = \"route\"")).await;
    for (path, expected) in [
        ("/users/1", "api /users/<id>, 9 left"),
        ("/users/2", "api /users/<id>, 8 left"),
        // Clients can send any path, so unmatched paths share one key.
        ("/nowhere", "api ~unmatched, 9 left"),
        ("/elsewhere", "api ~unmatched, 8 left"),
    ] {
        assert_eq!(server.get(path).await.body, expected, "{path}");
    }
}

async fn a_method_is_a_key<St: TestStore>() {
    let (server, ..) = serve::<St>(&ten("api", "key = \"method\"")).await;
    for (method, expected) in [
        (Method::GET, "api method:GET, 9 left"),
        (Method::POST, "api method:POST, 9 left"),
        (Method::GET, "api method:GET, 8 left"),
        (Method::from_bytes(b"BREW").unwrap(), "api method:other, 9 left"),
    ] {
        assert_eq!(Reply::to(server.request_by(method, "/")).await.body, expected);
    }
}

async fn parts_are_joined_with_colons<St: TestStore>() {
    let file = ten(
        "api",
        r#"
            key = ["header:x-user-id", "route", "method", "ip", "query:tenant", "cookie:session", "global"]
            path = "/api/{*rest}"
        "#,
    );
    let (server, ..) = serve::<St>(&file).await;
    let headers = [("x-user-id", "1"), ("cookie", "session=2")];
    let expected = "x-user-id:1:/api/<*rest>:method:GET:ip:127.0.0.1:query/tenant:3:cookie/session:2:(global)";
    assert_eq!(keys(&send(&server, "/api/a/b?tenant=3", &headers).await), expected);
}

/// A client may send as one part what another client sends as the other part, and any client can send what keys are made of.
async fn different_identities_never_share_a_key<St: TestStore>() {
    let file = ten("api", "key = [\"header:x-a\", \"query:b\"]\ndefault = \"none\"");
    let (server, ..) = serve::<St>(&file).await;
    for (path, a) in [
        ("/?b=1", "1"),
        ("/?b=11", "1"),
        ("/?b=1", "11"),
        ("/?b=2", "1:query/b:2"),
        ("/?b=2:query/b:2", "1"),
        ("/", "1"),
        ("/?b=~none", "1"),
        ("/?b=none", "1"),
        ("/?b=1", ""),
        ("/?b=1", "none"),
        ("/?b=1", "~none"),
        ("/", ""),
        ("/", "none:none"),
    ] {
        let reply = send(&server, path, &[("x-a", a)]).await;
        assert_eq!(reply.remaining(), "9", "{path} {a}");
        assert_eq!(send(&server, path, &[("x-a", a)]).await.remaining(), "8", "{path} {a}");
    }
}

async fn the_store_counts_under_the_key_that_handlers_see<St: TestStore>() {
    let file = ten("api", "key = [\"header:x-user-id\", \"route\"]\npath = \"/users/{id}\"");
    let (server, store, _) = serve::<St>(&file).await;
    assert_eq!(send(&server, "/users/1", &[("x-user-id", "a")]).await.status, 200);
    let limit = &rules(&file).limits()[0];
    assert_eq!(limit.to_string(), "fixed_window:api:60000000");
    for (key, left) in [
        ("x-user-id:a:/users/<id>", 9),
        ("x-user-id:b:/users/<id>", 10),
        ("x-user-id:a", 10),
    ] {
        assert_eq!(store.left(limit, &Key::verbatim(key)).await, left, "{key}");
    }
}
