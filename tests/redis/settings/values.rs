//! Valid and invalid settings, and passwords that must not be shown.

use std::time::Duration;

use tollgate::{Quota, RedisStore, Store, StoreError};

use super::fixture::{acquire, shown};
use support::{
    algorithms::each_algorithm,
    redis::{DEADLINE, RedisServer, keys, query},
};

#[test]
fn an_invalid_url_is_an_error_before_connecting() {
    for url in [
        "",
        "127.0.0.1:6379",
        "localhost",
        "http://127.0.0.1:6379",
        "redis://",
        "redis://host:port",
        "redis://host/database",
        #[cfg(not(feature = "tls"))]
        "rediss://127.0.0.1:6379",
    ] {
        let error = RedisStore::connect(url).unwrap_err();
        let message = error.to_string();
        assert!(
            matches!(&error, StoreError::Address { url: shown, .. } if shown == url),
            "{error:?}"
        );
        assert!(
            message.starts_with(&format!("url = {url:?}: ")) && message.contains("redis://HOST:PORT"),
            "{message}"
        );
    }
}

#[test]
fn a_password_is_never_shown() {
    let urls = [
        "redis://:hunter2@127.0.0.1:6379",
        "redis://user:hunter2@127.0.0.1/3",
        "redis://user:hunter2@host:port",
        "redis://:hunter2@host/database",
        "redis://:hunter2@host?protocol=9",
        "redis://:p@hunter2@host/database",
        "redis://:hunter2@",
        "redis:hunter2@host",
        "http://user:hunter2@host",
        ":hunter2@host",
    ];
    for builder in urls.map(|url| RedisStore::builder().url(url)) {
        assert!(!shown(&builder).contains("hunter2"), "{}", shown(&builder));
        let builder = builder.username("hunter2").password("hunter2");
        assert!(!shown(&builder).contains("hunter2"), "{}", shown(&builder));
    }
}

#[test]
fn a_password_without_a_host_or_in_a_query_is_not_shown_either() {
    for url in [
        "redis://:hunter2",
        "redis+unix:///socket?pass=hunter2",
        "redis+unix:///socket?pass=hunter2&db=x",
    ] {
        let builder = RedisStore::builder().url(url);
        assert!(!shown(&builder).contains("hunter2"), "{}", shown(&builder));
    }
}

#[test]
fn a_prefix_component_must_not_be_an_algorithm_name() {
    for algorithm in each_algorithm(Quota::per_day(10)) {
        for prefix in [algorithm.name().to_owned(), format!("shop:{}:eu", algorithm.name())] {
            let error = RedisStore::builder().prefix(prefix).build().unwrap_err();
            assert!(
                error
                    .to_string()
                    .ends_with("have no algorithm's name between its colons"),
                "{error}"
            );
        }
        assert!(
            RedisStore::builder()
                .prefix(format!("shop:my_{}", algorithm.name()))
                .build()
                .is_ok()
        );
    }
}

#[test]
fn an_invalid_setting_is_reported_with_its_value() {
    let prefix = |prefix: &str| RedisStore::builder().prefix(prefix);
    for (builder, field, value) in [
        (RedisStore::builder().pool_size(0), "pool_size", "0"),
        (
            RedisStore::builder().pool_size(usize::MAX),
            "pool_size",
            &usize::MAX.to_string(),
        ),
        (
            RedisStore::builder().prefix("shop:fixed_window"),
            "prefix",
            "\"shop:fixed_window\"",
        ),
        (RedisStore::builder().username("limiter"), "username", "\"limiter\""),
        (RedisStore::builder().deadline(Duration::ZERO), "deadline", "0ns"),
        (
            RedisStore::builder().deadline(Duration::from_secs(3601)),
            "deadline",
            "3601s",
        ),
        (prefix(""), "prefix", r#""""#),
        (prefix("my shop"), "prefix", r#""my shop""#),
        (prefix("shop\n"), "prefix", r#""shop\n""#),
        (prefix("{shop}"), "prefix", r#""{shop}""#),
        (prefix("läden"), "prefix", r#""läden""#),
        (prefix(&"x".repeat(65)), "prefix", &format!("{:?}", "x".repeat(65))),
    ] {
        let error = builder.build().unwrap_err();
        assert!(
            error.to_string().starts_with(&format!("{field} = {value}: it must ")),
            "{error}"
        );
        let StoreError::Setting(invalid) = error else {
            panic!("{error:?}")
        };
        assert_eq!((invalid.field(), invalid.value()), (field, value));
    }
    assert!(prefix(&"x".repeat(64)).build().is_ok());
}

#[tokio::test]
async fn an_unreachable_redis_is_an_error_of_the_first_call() {
    // No server listens on this port, and no test gets it.
    let address = "127.0.0.1:1";
    let builder = RedisStore::builder().url(&format!("redis://{address}"));
    let store = builder.deadline(DEADLINE).build().unwrap();
    for error in [
        store.apply(acquire()).await.unwrap_err(),
        store.check().await.unwrap_err(),
    ] {
        assert!(matches!(&error, StoreError::Connection { address: shown, .. } if **shown == *address));
        let message = error.to_string();
        assert!(
            message.starts_with(&format!("no connection to Redis at {address}: ")),
            "{message}"
        );
        assert!(
            message.ends_with("is it running, and is this its address?"),
            "{message}"
        );
    }
}

#[tokio::test]
async fn user_password_database_and_prefix_are_used() {
    let server = RedisServer::start();
    let redis = &mut server.client();
    query::<()>(redis, "ACL SETUSER limiter on >secret ~shop:* +@all");
    let address = format!("127.0.0.1:{}", server.port());
    let by_url = server.store().url(&format!("redis://limiter:secret@{address}/3"));
    let by_setters = server.store().username("limiter").password("secret").database(3);
    let setters_and_url = by_setters.clone().url(&format!("redis://nobody:wrong@{address}/4"));
    for builder in [by_url, by_setters, setters_and_url] {
        let store = builder.prefix("shop").build().unwrap();
        assert!(store.apply(acquire()).await.unwrap().admits());
        assert!(query::<String>(redis, "CLIENT LIST").contains(" user=limiter "));
        assert!(keys(redis).is_empty());
        query::<()>(redis, "SELECT 3");
        assert_eq!(keys(redis), ["shop:fixed_window:name:86400000000:anchored:key"]);
        query::<()>(redis, "FLUSHALL");
        query::<()>(redis, "SELECT 0");
    }
}
