//! Sentinels and clusters, as they are named.

use tollgate::{RedisStore, RedisStoreBuilder, StoreError};

use super::fixture::{acquire, shown};
use support::redis::{DEADLINE, RedisServer};

const NOBODY: [&str; 0] = [];

#[test]
fn a_place_that_cannot_be_is_named_with_what_is_wrong_with_it() {
    let builder = RedisStore::builder;
    let sentinel = ["redis://127.0.0.1:26379"];
    for (builder, words) in [
        (
            builder().cluster(NOBODY),
            "cluster = []: it must name at least one address",
        ),
        (
            builder().sentinels("mymaster", NOBODY),
            "sentinels = []: it must name at least one address",
        ),
        (
            builder().sentinels("", sentinel),
            "name = \"\": it must be what the sentinels call the primary",
        ),
        (
            builder().cluster(["redis://127.0.0.1:7000"]).database(1),
            "database = 1: it must be 0 in a cluster, which has no other",
        ),
        (
            builder().cluster(["redis://127.0.0.1:7000", "redis+unix:///socket"]),
            "cluster = /socket: it must name hosts and ports",
        ),
    ] {
        assert_eq!(builder.build().unwrap_err().to_string(), words);
    }
    for builder in [
        builder().cluster(["redis://127.0.0.1:7000", "127.0.0.1:7001"]),
        builder().sentinels("mymaster", ["127.0.0.1:7001"]),
    ] {
        let error = builder.build().unwrap_err();
        assert!(
            matches!(&error, StoreError::Address { url, .. } if url == "127.0.0.1:7001"),
            "{error:?}"
        );
    }
}

#[test]
fn a_password_is_never_shown_wherever_it_is_for() {
    let urls = [
        "redis://:hunter2@127.0.0.1:1",
        "redis://user:hunter2@127.0.0.1:1",
        "redis://user:hunter2@host:port",
    ];
    let builder = RedisStore::builder;
    let place = |url| [builder().cluster([url]), builder().sentinels("mymaster", [url])];
    for builder in urls.into_iter().flat_map(place) {
        for builder in [builder.clone(), builder.username("hunter2").password("hunter2")] {
            assert!(!shown(&builder).contains("hunter2"), "{}", shown(&builder));
        }
    }
}

async fn fails(builder: RedisStoreBuilder) -> (String, String) {
    let store = builder.deadline(DEADLINE).build().unwrap();
    let refused = store.check().await.unwrap_err();
    let error = tollgate::Store::apply(&store, acquire()).await.unwrap_err();
    assert!(!error.may_have_charged());
    (refused.to_string(), error.to_string())
}

#[tokio::test]
async fn nobody_who_could_tell_is_there() {
    let nowhere = "no connection to Redis at";
    let refused = "Connection refused (os error 111); is it running, and is this its address?";
    let urls = ["redis://127.0.0.1:1", "redis://127.0.0.1:2"];
    let expected = format!("{nowhere} 127.0.0.1:1,127.0.0.1:2: {refused}");
    let builder = RedisStore::builder().cluster(urls);
    assert_eq!(fails(builder).await, (expected.clone(), expected));
    let expected = format!("{nowhere} mymaster of redis://127.0.0.1:1,redis://127.0.0.1:2: {refused}");
    let builder = RedisStore::builder().sentinels("mymaster", urls);
    assert_eq!(fails(builder).await, (expected.clone(), expected));
}

/// A Redis that belongs to no cluster says so.
#[tokio::test]
async fn whoever_is_asked_knows_of_no_cluster_and_of_no_primary() {
    let server = RedisServer::start();
    let (refused, error) = fails(RedisStore::builder().cluster([server.url()])).await;
    assert!(refused.contains("cluster support disabled"), "{refused}");
    assert_eq!(refused, error);
    let (refused, error) = fails(RedisStore::builder().sentinels("mymaster", [server.url()])).await;
    assert!(refused.contains("SENTINEL"), "{refused}");
    assert_eq!(refused, error);
}
