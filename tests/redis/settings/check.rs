//! `check()` on a misconfigured Redis.

use tollgate::{ManualClock, RedisStoreBuilder, StoreError};

use support::redis::{RedisServer, calls, keys, query};

/// The message of a failed check.
async fn check_error(server: &RedisServer, builder: RedisStoreBuilder) -> String {
    let error = builder.build().unwrap().check().await.unwrap_err();
    assert!(matches!(error, StoreError::Server { .. }), "{error:?}");
    let (message, debug) = (error.to_string(), format!("{error:?}"));
    assert!(
        message.starts_with(&format!("Redis at 127.0.0.1:{} replied with an error: ", server.port())),
        "{message}"
    );
    assert!(
        !message.contains("hunter2") && !debug.contains("hunter2"),
        "{message} {debug}"
    );
    message
}

#[tokio::test]
async fn check_reports_a_missing_password() {
    let server = RedisServer::start_with(&["--requirepass", "secret"]);
    for builder in [server.store(), server.store().database(2)] {
        let message = check_error(&server, builder).await;
        assert!(
            message.ends_with(
                "give it a password: redis://:PASSWORD@HOST as its URL; in code, also builder().password(..)"
            ),
            "{message}"
        );
    }
}

#[tokio::test]
async fn check_reports_a_wrong_password() {
    let server = RedisServer::start_with(&["--requirepass", "secret"]);
    let by_url = server
        .store()
        .url(&format!("redis://:hunter2@127.0.0.1:{}", server.port()));
    let unknown_user = server.store().username("nobody").password("hunter2");
    for builder in [by_url, server.store().password("hunter2"), unknown_user] {
        let message = check_error(&server, builder).await;
        assert!(message.ends_with("; check the user name and the password"), "{message}");
    }
}

#[tokio::test]
async fn check_reports_missing_permissions() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    for (rights, expected) in [
        ("~* +@all -evalsha", "'evalsha'"),
        ("~* +@all -script", "'script|load'"),
        ("~other:* +@all", "keys"),
        ("~* +@all -set", "command"),
        ("~* +@all -time", "command"),
        ("~* +@all -lrem", "command"),
        ("~* +@all -pexpireat", "command"),
    ] {
        query::<()>(redis, &format!("ACL SETUSER limiter reset on >hunter2 {rights}"));
        // LREM only runs while the window of a log lasts, which may end during the check; on a manual clock it does not. TIME
        // only runs on Redis's clock.
        let store = match rights.ends_with("-lrem") {
            true => server.store().clock(ManualClock::at(0)),
            false => server.store(),
        };
        let message = check_error(&server, store.username("limiter").password("hunter2")).await;
        assert!(
            message.contains(expected)
                && message.contains(
                    "; allow the user the commands and keys in docs/security.md, Other users of Redis; ACL LOG shows"
                ),
            "{message}"
        );
    }
}

#[tokio::test]
async fn check_reports_a_replica() {
    let server = RedisServer::start();
    query::<()>(&mut server.client(), "REPLICAOF 127.0.0.1 1");
    let message = check_error(&server, server.store()).await;
    assert!(
        message.ends_with("; this is a replica: connect to the primary"),
        "{message}"
    );
}

#[tokio::test]
async fn check_leaves_no_keys() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    server.store().build().unwrap().check().await.unwrap();
    assert!(keys(redis).is_empty());
    // On a manual clock, no window ends before its charge is refunded.
    let before = calls(redis, "set");
    let still = server.store().clock(ManualClock::at(0));
    still.build().unwrap().check().await.unwrap();
    assert!(keys(redis).is_empty());
    assert_eq!(calls(redis, "set"), before + 2);
}
