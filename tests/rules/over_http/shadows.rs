//! Limits in shadow mode.

use std::sync::atomic::{AtomicU32, Ordering};

use tollgate::Key;
use tracing::Level;

use super::fixture::{NOTHING, TRUST, TestStore, on_both_stores, rules, send, serve, ten};
use support::log;

on_both_stores![
    a_shadow_denies_no_request_and_is_in_no_header,
    a_shadow_is_charged_only_if_the_request_is_admitted,
    a_request_without_the_key_of_a_shadow_passes,
    a_shadow_neither_delays_nor_denies_impossible_costs,
    shadow_false_enforces_the_limit,
    a_shadow_denial_is_logged,
];

/// Two per minute, in shadow mode.
fn watched(more: &str) -> String {
    ten("watched", &format!("shadow = true\n{more}")).replace("limit = 10", "limit = 2")
}

async fn a_shadow_denies_no_request_and_is_in_no_header<St: TestStore>() {
    let (server, ..) = serve::<St>(&(watched("key = \"global\"") + &ten("api", "key = \"global\""))).await;
    for (api, shadow) in [(9, 1), (8, 0), (7, 0), (6, 0)] {
        let reply = server.get("/").await;
        let limits = format!(r#"10 {api} 660 | "api";q=10;w=60 | "api";r={api};t=45"#);
        assert_eq!(reply.all(), (200, "-".into(), limits));
        assert_eq!(
            reply.body,
            format!("watched global, {shadow} left\napi global, {api} left")
        );
    }
    let (server, ..) = serve::<St>(&watched("key = \"global\"")).await;
    for _ in 0..3 {
        assert_eq!(server.get("/").await.all(), (200, "-".into(), NOTHING.into()));
    }
}

async fn a_shadow_is_charged_only_if_the_request_is_admitted<St: TestStore>() {
    let one = ten("one", "key = \"global\"").replace("limit = 10", "limit = 1");
    let file = one + &watched("key = \"global\"");
    let (server, store, _) = serve::<St>(&file).await;
    let shadow = &rules(&file).limits()[1];
    for status in [200, 429, 429] {
        assert_eq!(server.get("/").await.status, status);
        assert_eq!(store.left(shadow, &Key::GLOBAL).await, 1);
    }
}

async fn a_request_without_the_key_of_a_shadow_passes<St: TestStore>() {
    for part in [
        "header:x-user-id",
        "apikey:authorization",
        "query:tenant",
        "cookie:session",
    ] {
        let file = watched(&format!("key = \"{part}\"")) + &ten("api", "key = \"global\"");
        let (server, ..) = serve::<St>(&file).await;
        let reply = server.get("/").await;
        assert_eq!(
            (reply.status, reply.body.as_str()),
            (200, "api global, 9 left"),
            "{part}"
        );
    }
}

async fn a_shadow_neither_delays_nor_denies_impossible_costs<St: TestStore>() {
    let shadow = watched("key = \"global\"\ncost = \"header:x-cost\"").replace("fixed_window", "leaky_bucket");
    let (server, _, clock) = serve::<St>(&(shadow + TRUST)).await;
    for cost in ["1", "1", "1", "3", "4294967295"] {
        assert_eq!(send(&server, "/", &[("x-cost", cost)]).await.status, 200, "{cost}");
        assert_eq!(clock.pending_sleeps(), 0);
    }
}

async fn shadow_false_enforces_the_limit<St: TestStore>() {
    let file = watched("key = \"global\"").replace("shadow = true", "shadow = false");
    let (server, ..) = serve::<St>(&file).await;
    for status in [200, 200, 429] {
        assert_eq!(server.get("/").await.status, status);
    }
}

async fn a_shadow_denial_is_logged<St: TestStore>() {
    static USERS: AtomicU32 = AtomicU32::new(0);
    log::listen();
    let user = format!("watched-{}", USERS.fetch_add(1, Ordering::Relaxed));
    let (server, ..) = serve::<St>(&watched("key = \"header:x-user-id\"")).await;
    for logged in [0, 0, 1, 1] {
        assert_eq!(server.get_as(&user).await.status, 200);
        let lines = log::take(|line| line.field("key") == Key::named("x-user-id", &user).digest());
        assert_eq!(lines.len(), logged);
        for line in lines {
            assert_eq!((line.level, line.field("limit")), (Level::DEBUG, "watched"));
            assert_eq!(line.field("message"), "shadow would have denied request");
        }
    }
}
