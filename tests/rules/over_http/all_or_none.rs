//! All limits that match a request are charged together, all or none.

use tollgate::{Key, RulesLayer};

use super::fixture::{NOTHING, Server, TestStore, decision_app, on_both_stores, rules, send, serve, ten};

on_both_stores![
    a_denial_by_one_limit_does_not_charge_the_others,
    headers_are_in_the_order_of_the_file,
    a_limit_that_does_not_match_is_neither_charged_nor_reported,
    a_request_that_matches_no_limit_gets_no_headers,
    layers_of_one_file_share_its_limits,
];

/// Ten per minute in total, and two per user.
fn two_tiers() -> String {
    ten("all", "key = \"global\"") + &ten("user", "key = \"header:x-user-id\"").replace("limit = 10", "limit = 2")
}

async fn a_denial_by_one_limit_does_not_charge_the_others<St: TestStore>() {
    let (server, store, _) = serve::<St>(&two_tiers()).await;
    let all = &rules(&two_tiers()).limits()[0];
    for (user, status, left) in [
        ("a", 200, 9),
        ("a", 200, 8),
        ("a", 429, 8),
        ("a", 429, 8),
        ("b", 200, 7),
        // A request without a key is rejected.
        ("", 400, 7),
    ] {
        assert_eq!(server.get_as(user).await.status, status, "{user}");
        assert_eq!(store.left(all, &Key::GLOBAL).await, left, "{user}");
    }
}

async fn headers_are_in_the_order_of_the_file<St: TestStore>() {
    let names = ["middle", "last", "first"];
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let names = order.map(|index| names[index]);
        let file = names.map(|name| ten(name, "key = \"global\"")).concat();
        let (server, ..) = serve::<St>(&file).await;
        let policies = names.map(|name| format!("\"{name}\";q=10;w=60")).join(", ");
        let states = names.map(|name| format!("\"{name}\";r=9;t=45")).join(", ");
        let reply = server.get("/").await;
        assert_eq!(reply.limits(), format!("10 9 660 | {policies} | {states}"));
        assert_eq!(
            reply.body,
            names.map(|name| format!("{name} global, 9 left")).join("\n")
        );
        assert_eq!(
            rules(&file)
                .limits()
                .iter()
                .map(|limit| limit.name())
                .collect::<Vec<_>>(),
            names
        );
    }
}

async fn a_limit_that_does_not_match_is_neither_charged_nor_reported<St: TestStore>() {
    let file = ten("all", "key = \"global\"") + &ten("posts", "key = \"global\"\nmethods = [\"POST\"]");
    let (server, store, _) = serve::<St>(&file).await;
    let limits = r#"10 9 660 | "all";q=10;w=60 | "all";r=9;t=45"#;
    assert_eq!(server.get("/").await.limits(), limits);
    assert_eq!(store.left(&rules(&file).limits()[1], &Key::GLOBAL).await, 10);
}

async fn a_request_that_matches_no_limit_gets_no_headers<St: TestStore>() {
    let file = ten("api", "key = \"header:x-user-id\"\npath = \"/api\"");
    let (server, ..) = serve::<St>(&file).await;
    let reply = server.get("/elsewhere").await;
    assert_eq!(reply.all(), (200, "-".into(), NOTHING.into()));
    assert_eq!(reply.body, "");
    assert_eq!(server.get("/api").await.status, 400);
}

async fn layers_of_one_file_share_its_limits<St: TestStore>() {
    let (store, _) = St::fresh();
    let rules = rules(&ten("all", "key = \"global\""));
    let app = || decision_app().layer(RulesLayer::new(rules.clone(), store.clone()));
    let (one, other) = (Server::start(app()).await, Server::start(app()).await);
    assert_eq!(send(&one, "/", &[]).await.remaining(), "9");
    assert_eq!(send(&other, "/", &[]).await.remaining(), "8");
    assert_eq!(send(&one, "/", &[]).await.remaining(), "7");
}
