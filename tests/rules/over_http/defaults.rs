//! What stands in for a part of a key that a request does not have.

use tollgate::RateLimitLayer;

use super::fixture::{NOTHING, Server, TRUST, TestStore, ask, on_both_stores, rules, serve, telling, ten};

on_both_stores![
    a_word_stands_in_for_each_part_that_is_absent,
    an_address_stands_in_for_each_part_that_is_absent,
    an_address_that_stands_in_is_the_clients_own,
    without_a_default_a_request_is_told_what_it_lacks,
    without_an_address_only_a_word_stands_in,
];

/// A request lacks these, in every way that a part can be absent.
const ABSENT: [(&str, &[(&str, &str)]); 3] = [
    ("/", &[]),
    ("/?tenant=&tenant=t", &[("x-user-id", ""), ("cookie", "session=")]),
    (
        "/?Tenant=t",
        &[("x-user", "1"), ("cookie", "sessions=1"), ("authorization", "Basic x")],
    ),
];

const EACH: [(&str, &str); 5] = [
    ("header:x-user-id", "the `x-user-id` header"),
    ("apikey:x-api-key", "the `x-api-key` header"),
    ("apikey:authorization", "an `authorization` header with a bearer token"),
    ("query:tenant", "the query parameter `tenant`"),
    ("cookie:session", "the cookie `session`"),
];

async fn a_word_stands_in_for_each_part_that_is_absent<St: TestStore>() {
    for (part, _) in EACH {
        let (server, ..) = serve::<St>(&ten("api", &format!("key = \"{part}\"\ndefault = \"anonymous\""))).await;
        for ((path, headers), left) in ABSENT.into_iter().zip([9, 8, 7]) {
            let reply = ask(&server, path, headers).await;
            assert_eq!(reply.body, format!("api ~anonymous, {left} left"), "{part} {path}");
        }
    }
    let file = ten(
        "api",
        "key = [\"header:x-user-id\", \"query:tenant\"]\ndefault = \"not logged in\"",
    );
    let (server, ..) = serve::<St>(&file).await;
    // A word is digested where it has more than letters, as what clients send is.
    let word = "~#f18a2548c063c5a2b1560c6f2b9ec44b";
    for (path, user, key) in [
        ("/?tenant=t", "1", "x-user-id:1:query/tenant:t".to_owned()),
        ("/", "1", format!("x-user-id:1:{word}")),
        ("/?tenant=t", "", format!("{word}:query/tenant:t")),
        ("/", "", format!("{word}:{word}")),
    ] {
        let reply = ask(&server, path, &[("x-user-id", user)]).await;
        assert_eq!(reply.body, format!("api {key}, 9 left"));
    }
}

async fn an_address_stands_in_for_each_part_that_is_absent<St: TestStore>() {
    for (part, _) in EACH {
        let (server, ..) = serve::<St>(&ten("api", &format!("key = \"{part}\"\ndefault = \"ip\""))).await;
        for ((path, headers), left) in ABSENT.into_iter().zip([9, 8, 7]) {
            let reply = ask(&server, path, headers).await;
            assert_eq!(reply.body, format!("api ip:127.0.0.1, {left} left"), "{part} {path}");
        }
    }
    let file = ten(
        "api",
        "key = [\"header:x-user-id\", \"query:tenant\"]\ndefault = \"ip\"",
    );
    let (server, ..) = serve::<St>(&file).await;
    let reply = ask(&server, "/", &[("x-user-id", "1")]).await;
    assert_eq!(reply.body, "api x-user-id:1:ip:127.0.0.1, 9 left");
    assert_eq!(server.get("/").await.body, "api ip:127.0.0.1:ip:127.0.0.1, 9 left");
}

async fn an_address_that_stands_in_is_the_clients_own<St: TestStore>() {
    let file = ten("api", "key = \"header:x-user-id\"\ndefault = \"ip\"") + TRUST;
    let (server, ..) = serve::<St>(&file).await;
    for (client, key) in [("192.0.2.1", "ip:192.0.2.1"), ("2001:db8::1", "ip:[2001:db8::]/64")] {
        let reply = ask(&server, "/", &[("x-forwarded-for", client)]).await;
        assert_eq!(reply.body, format!("api {key}, 9 left"));
    }
}

async fn without_a_default_a_request_is_told_what_it_lacks<St: TestStore>() {
    for (part, lacks) in EACH {
        for key in [format!("\"{part}\""), format!("[\"ip\", \"{part}\"]")] {
            let (server, ..) = serve::<St>(&ten("api", &format!("key = {key}"))).await;
            for (path, headers) in ABSENT {
                let reply = ask(&server, path, headers).await;
                assert_eq!(reply.all(), (400, "-".into(), NOTHING.into()), "{key} {path}");
                assert_eq!(reply.json()["error"], "rate_limit_key_missing");
                assert_eq!(
                    reply.json()["message"],
                    format!("the request lacks {lacks}"),
                    "{key} {path}"
                );
            }
        }
    }
}

async fn without_an_address_only_a_word_stands_in<St: TestStore>() {
    for (key, status) in [
        ("key = \"ip\"", 500),
        ("key = \"ip\"\ndefault = \"ip\"", 500),
        ("key = \"header:x-user-id\"\ndefault = \"ip\"", 500),
        ("key = \"ip\"\ndefault = \"somewhere\"", 200),
        ("key = [\"ip\", \"method\"]\ndefault = \"somewhere\"", 200),
    ] {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::rules(rules(&ten("api", key)), store);
        let server = Server::start_without_peers(telling().layer(layer)).await;
        let reply = server.get("/").await;
        assert_eq!(reply.status, status, "{key}");
        match status {
            200 => assert!(reply.body.starts_with("api ~somewhere"), "{}", reply.body),
            _ => assert_eq!(reply.json()["error"], "rate_limiter_misconfigured"),
        }
    }
}
