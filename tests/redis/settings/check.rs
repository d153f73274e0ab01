//! What a check says of a Redis that will not do.

use tollgate::{ManualClock, RedisStoreBuilder, StoreError};

use support::redis::{RedisServer, ask, calls, keys};

/// What a check complains of.
async fn complaint(server: &RedisServer, builder: RedisStoreBuilder) -> String {
    let error = builder.build().unwrap().check().await.unwrap_err();
    assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
    let (words, debug) = (error.to_string(), format!("{error:?}"));
    assert!(
        words.starts_with(&format!("Redis at 127.0.0.1:{} refused: ", server.port())),
        "{words}"
    );
    assert!(
        !words.contains("hunter2") && !debug.contains("hunter2"),
        "{words} {debug}"
    );
    words
}

#[tokio::test]
async fn a_check_says_that_a_password_is_missing() {
    let server = RedisServer::start_with(&["--requirepass", "secret"]);
    for builder in [server.store(), server.store().database(2)] {
        let words = complaint(&server, builder).await;
        assert!(
            words.ends_with("give it a password: redis://:PASSWORD@HOST, or builder().password(..)"),
            "{words}"
        );
    }
}

#[tokio::test]
async fn a_check_says_that_a_password_is_wrong() {
    let server = RedisServer::start_with(&["--requirepass", "secret"]);
    let by_url = server
        .store()
        .url(&format!("redis://:hunter2@127.0.0.1:{}", server.port()));
    let unknown_user = server.store().username("nobody").password("hunter2");
    for builder in [by_url, server.store().password("hunter2"), unknown_user] {
        let words = complaint(&server, builder).await;
        assert!(words.ends_with("; check the user name and the password"), "{words}");
    }
}

#[tokio::test]
async fn a_check_says_what_a_user_may_not_do() {
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
        ask::<()>(redis, &format!("ACL SETUSER limiter reset on >hunter2 {rights}"));
        // What is removed of a log is only there until its window ends, which it does not on a clock that stands still; but that
        // one is not Redis's.
        let store = match rights.ends_with("-lrem") {
            true => server.store().clock(ManualClock::at(0)),
            false => server.store(),
        };
        let words = complaint(&server, store.username("limiter").password("hunter2")).await;
        assert!(
            words.contains(expected)
                && words.ends_with("; allow the user the commands that lua/README.md lists, on our keys"),
            "{words}"
        );
    }
}

#[tokio::test]
async fn a_check_says_that_it_talks_to_a_replica() {
    let server = RedisServer::start();
    ask::<()>(&mut server.client(), "REPLICAOF 127.0.0.1 1");
    let words = complaint(&server, server.store()).await;
    assert!(
        words.ends_with("; this is a replica: connect to the primary"),
        "{words}"
    );
}

#[tokio::test]
async fn a_check_leaves_no_key_behind() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    server.store().build().unwrap().check().await.unwrap();
    assert!(keys(redis).is_empty());
    // On a clock that stands still, no window ends before what was taken in it is given back.
    let before = calls(redis, "set");
    let still = server.store().clock(ManualClock::at(0));
    still.build().unwrap().check().await.unwrap();
    assert!(keys(redis).is_empty());
    assert_eq!(calls(redis, "set"), before + 2);
}
