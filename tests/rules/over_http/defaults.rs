//! What stands in for a part of a key that a request does not have.

use axum::Extension;
use tollgate::{RateLimitLayer, extract::Unaddressed};

use super::fixture::{NOTHING, Server, TRUST, TestStore, ask, on_both_stores, rules, serve, telling, ten};

on_both_stores![
    a_word_stands_in_for_each_part_that_is_absent,
    an_address_stands_in_for_each_part_that_is_absent,
    an_address_that_stands_in_is_the_clients_own,
    without_a_default_a_request_is_told_what_it_lacks,
    nothing_stands_in_for_what_the_service_does_not_provide,
    a_word_stands_in_for_an_address_that_a_request_is_said_not_to_have,
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

/// Whoever serves has forgotten to hand addresses on: everybody would share what stands in.
async fn nothing_stands_in_for_what_the_service_does_not_provide<St: TestStore>() {
    let proxies = "[trust]\nproxies = [\"127.0.0.0/8\"]\nheaders = [\"x-user-id\", \"x-plan\", \"x-cost\"]\n";
    for key in [
        "key = \"ip\"",
        "key = \"ip\"\ndefault = \"ip\"",
        "key = \"ip\"\ndefault = \"somewhere\"",
        "key = [\"ip\", \"method\"]\ndefault = \"somewhere\"",
        "key = \"header:x-other\"\ndefault = \"ip\"",
        "key = \"header:x-user-id\"\ndefault = \"somebody\"",
        "key = \"global\"\nplan = \"header:x-plan\"\nplans.pro = { limit = 100 }",
        "key = \"global\"\ncost = \"header:x-cost\"",
    ] {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::rules(rules(&(ten("api", key) + proxies)), store);
        let server = Server::start_without_peers(telling().layer(layer)).await;
        let headers = [("x-user-id", "1"), ("x-plan", "pro"), ("x-cost", "2")];
        let reply = ask(&server, "/", &headers).await;
        assert_eq!(reply.status, 500, "{key}");
        assert_eq!(reply.json()["error"], "rate_limiter_misconfigured");
    }
}

async fn a_word_stands_in_for_an_address_that_a_request_is_said_not_to_have<St: TestStore>() {
    for key in ["key = \"ip\"", "key = [\"ip\", \"method\"]"] {
        let (store, _) = St::fresh();
        let file = ten("api", &format!("{key}\ndefault = \"local\""));
        let app = telling().layer(RateLimitLayer::rules(rules(&file), store));
        let server = Server::start_without_peers(app.layer(Extension(Unaddressed))).await;
        let reply = server.get("/").await;
        assert!(reply.body.starts_with("api ~local"), "{}", reply.body);
    }
}
