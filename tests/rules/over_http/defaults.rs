//! Default keys for the parts of a key that a request lacks.

use axum::Extension;
use tollgate::{RulesLayer, extract::NoPeerAddr};

use super::fixture::{NOTHING, Server, TRUST, TestStore, decision_app, on_both_stores, rules, send, serve, ten};

on_both_stores![
    a_default_key_replaces_each_missing_part,
    an_address_replaces_each_missing_part,
    an_address_as_default_is_that_of_the_client,
    without_a_default_a_missing_part_is_an_error,
    no_default_replaces_a_missing_peer_address,
    a_default_key_replaces_the_address_of_a_request_marked_as_without_one,
];

/// Requests that lack these parts, in every way that a part can be missing.
const ABSENT: [(&str, &[(&str, &str)]); 3] = [
    ("/", &[]),
    ("/?tenant=&tenant", &[("x-user-id", ""), ("cookie", "session=")]),
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

async fn a_default_key_replaces_each_missing_part<St: TestStore>() {
    for (part, _) in EACH {
        let (server, ..) = serve::<St>(&ten("api", &format!("key = \"{part}\"\ndefault = \"anonymous\""))).await;
        for ((path, headers), left) in ABSENT.into_iter().zip([9, 8, 7]) {
            let reply = send(&server, path, headers).await;
            assert_eq!(reply.body, format!("api ~anonymous, {left} left"), "{part} {path}");
        }
    }
    let file = ten(
        "api",
        "key = [\"header:x-user-id\", \"query:tenant\"]\ndefault = \"not logged in\"",
    );
    let (server, ..) = serve::<St>(&file).await;
    // A default key is digested if it has other than safe characters, as client values are.
    let default_key = "~#f18a2548c063c5a2b1560c6f2b9ec44b";
    for (path, user, key) in [
        ("/?tenant=t", "1", "x-user-id:1:query/tenant:t".to_owned()),
        ("/", "1", format!("x-user-id:1:{default_key}")),
        ("/?tenant=t", "", format!("{default_key}:query/tenant:t")),
        ("/", "", format!("{default_key}:{default_key}")),
    ] {
        let reply = send(&server, path, &[("x-user-id", user)]).await;
        assert_eq!(reply.body, format!("api {key}, 9 left"));
    }
}

async fn an_address_replaces_each_missing_part<St: TestStore>() {
    for (part, _) in EACH {
        let (server, ..) = serve::<St>(&ten("api", &format!("key = \"{part}\"\ndefault = \"ip\""))).await;
        for ((path, headers), left) in ABSENT.into_iter().zip([9, 8, 7]) {
            let reply = send(&server, path, headers).await;
            assert_eq!(reply.body, format!("api ip:127.0.0.1, {left} left"), "{part} {path}");
        }
    }
    let file = ten(
        "api",
        "key = [\"header:x-user-id\", \"query:tenant\"]\ndefault = \"ip\"",
    );
    let (server, ..) = serve::<St>(&file).await;
    let reply = send(&server, "/", &[("x-user-id", "1")]).await;
    assert_eq!(reply.body, "api x-user-id:1:ip:127.0.0.1, 9 left");
    assert_eq!(server.get("/").await.body, "api ip:127.0.0.1:ip:127.0.0.1, 9 left");
}

async fn an_address_as_default_is_that_of_the_client<St: TestStore>() {
    let file = ten("api", "key = \"header:x-user-id\"\ndefault = \"ip\"") + TRUST;
    let (server, ..) = serve::<St>(&file).await;
    for (client, key) in [("192.0.2.1", "ip:192.0.2.1"), ("2001:db8::1", "ip:[2001:db8::]/64")] {
        let reply = send(&server, "/", &[("x-forwarded-for", client)]).await;
        assert_eq!(reply.body, format!("api {key}, 9 left"));
    }
}

async fn without_a_default_a_missing_part_is_an_error<St: TestStore>() {
    for (part, lacks) in EACH {
        for key in [format!("\"{part}\""), format!("[\"ip\", \"{part}\"]")] {
            let (server, ..) = serve::<St>(&ten("api", &format!("key = {key}"))).await;
            for (path, headers) in ABSENT {
                let reply = send(&server, path, headers).await;
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

/// The service does not provide peer addresses, so all clients would share the default key.
async fn no_default_replaces_a_missing_peer_address<St: TestStore>() {
    let proxies = "[trust]\nproxies = [\"127.0.0.0/8\"]\nheaders = [\"x-user-id\", \"x-plan\", \"x-cost\"]\n";
    for key in [
        "key = \"ip\"",
        "key = \"ip\"\ndefault = \"ip\"",
        "key = \"ip\"\ndefault = \"somewhere\"",
        "key = [\"ip\", \"method\"]\ndefault = \"somewhere\"",
        "key = \"header:x-other\"\ndefault = \"ip\"",
        "key = \"header:x-user-id\"\ndefault = \"anonymous\"",
        "key = \"global\"\nplan = \"header:x-plan\"\nplans.pro = { limit = 100 }",
        "key = \"global\"\ncost = \"header:x-cost\"",
    ] {
        let (store, _) = St::fresh();
        let layer = RulesLayer::new(rules(&(ten("api", key) + proxies)), store);
        let server = Server::start_without_peers(decision_app().layer(layer)).await;
        let headers = [("x-user-id", "1"), ("x-plan", "pro"), ("x-cost", "2")];
        let reply = send(&server, "/", &headers).await;
        assert_eq!(reply.status, 500, "{key}");
        assert_eq!(reply.json()["error"], "rate_limiter_misconfigured");
    }
}

async fn a_default_key_replaces_the_address_of_a_request_marked_as_without_one<St: TestStore>() {
    for key in ["key = \"ip\"", "key = [\"ip\", \"method\"]"] {
        let (store, _) = St::fresh();
        let file = ten("api", &format!("{key}\ndefault = \"local\""));
        let app = decision_app().layer(RulesLayer::new(rules(&file), store));
        let server = Server::start_without_peers(app.layer(Extension(NoPeerAddr))).await;
        let reply = server.get("/").await;
        assert!(reply.body.starts_with("api ~local"), "{}", reply.body);
    }
}
