//! Addresses of sentinels and clusters.

use tollgate::{RedisStore, RedisStoreBuilder, StoreError};

use super::fixture::{acquire, shown};
use support::redis::{DEADLINE, RedisServer};

const NO_ADDRESSES: [&str; 0] = [];

#[test]
fn an_invalid_address_is_an_error_with_the_reason() {
    let builder = RedisStore::builder;
    let sentinel = ["redis://127.0.0.1:26379"];
    for (builder, message) in [
        (
            builder().cluster(NO_ADDRESSES),
            "cluster = []: it must name at least one address",
        ),
        (
            builder().sentinels("mymaster", NO_ADDRESSES),
            "sentinels = []: it must name at least one address",
        ),
        (
            builder().sentinels("", sentinel),
            "name = \"\": it must be the name of the primary in the configuration of the sentinels",
        ),
        (
            builder().cluster(["redis://127.0.0.1:7000"]).database(1),
            "database = 1: it must be 0 in a cluster, which has no other databases",
        ),
        (
            builder().cluster(["redis://127.0.0.1:7000", "redis+unix:///socket"]),
            "cluster = /socket: it must name hosts and ports",
        ),
    ] {
        assert_eq!(builder.build().unwrap_err().to_string(), message);
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
fn passwords_of_sentinels_and_clusters_are_never_shown() {
    let urls = [
        "redis://:hunter2@127.0.0.1:1",
        "redis://user:hunter2@127.0.0.1:1",
        "redis://user:hunter2@host:port",
    ];
    let builder = RedisStore::builder;
    let deployments = |url| [builder().cluster([url]), builder().sentinels("mymaster", [url])];
    for builder in urls.into_iter().flat_map(deployments) {
        for builder in [builder.clone(), builder.username("hunter2").password("hunter2")] {
            assert!(!shown(&builder).contains("hunter2"), "{}", shown(&builder));
        }
    }
}

async fn errors(builder: RedisStoreBuilder) -> (String, String) {
    let store = builder.deadline(DEADLINE).build().unwrap();
    let check_error = store.check().await.unwrap_err();
    let error = tollgate::Store::apply(&store, acquire()).await.unwrap_err();
    assert!(!error.may_have_charged());
    (check_error.to_string(), error.to_string())
}

#[tokio::test]
async fn all_addresses_unreachable() {
    let prefix = "no connection to Redis at";
    let reason = "Connection refused (os error 111); is it running, and is this its address?";
    let urls = ["redis://127.0.0.1:1", "redis://127.0.0.1:2"];
    let expected = format!("{prefix} 127.0.0.1:1,127.0.0.1:2: {reason}");
    let builder = RedisStore::builder().cluster(urls);
    assert_eq!(errors(builder).await, (expected.clone(), expected));
    let expected = format!("{prefix} mymaster of redis://127.0.0.1:1,redis://127.0.0.1:2: {reason}");
    let builder = RedisStore::builder().sentinels("mymaster", urls);
    assert_eq!(errors(builder).await, (expected.clone(), expected));
}

#[tokio::test]
async fn a_standalone_redis_is_neither_a_cluster_node_nor_a_sentinel() {
    let server = RedisServer::start();
    let (check_error, error) = errors(RedisStore::builder().cluster([server.url()])).await;
    assert!(check_error.contains("cluster support disabled"), "{check_error}");
    assert_eq!(check_error, error);
    let (check_error, error) = errors(RedisStore::builder().sentinels("mymaster", [server.url()])).await;
    assert!(check_error.contains("SENTINEL"), "{check_error}");
    assert_eq!(check_error, error);
}
