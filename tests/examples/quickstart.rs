//! The classic case, in memory and on Redis.

use support::{
    patience::eventually,
    project::example,
    redis::{RedisServer, keys},
};

use crate::examples::{Server, header, left};

/// The numbers that hold whenever the minute turns while this runs: no window is waited for.
async fn the_classic_case(server: &Server) {
    for path in ["/api/hello", "/api/some/where?else=1"] {
        let plain = server.get(path, ("x-user-id", "alice")).await;
        assert_eq!(plain.status(), 200);
        assert_eq!(
            header(&plain, "ratelimit-policy"),
            r#""global";q=10000;w=60, "user";q=100;w=60"#
        );
        assert_eq!(header(&plain, "x-ratelimit-limit"), "100");
    }
    let expensive = server.get("/api/expensive", ("x-user-id", "alice")).await;
    let policy = r#""global";q=10000;w=60, "user";q=100;w=60, "expensive";q=10;w=60"#;
    assert_eq!(header(&expensive, "ratelimit-policy"), policy);

    // A burst of thirty, of which not even the turn of a minute would let twenty pass.
    let mut refused = Vec::new();
    let mut left_before = [10_000, 100];
    for _ in 0..30 {
        let response = server.get("/api/expensive", ("x-user-id", "bob")).await;
        let left = ["global", "user"].map(|tier| left(tier, &response));
        // A request that one tier refuses costs the others nothing. (As time goes by, there is only ever more.)
        if response.status() == 429 {
            assert!(
                left[0] >= left_before[0] && left[1] >= left_before[1],
                "{left_before:?} {left:?}"
            );
            refused.push(response);
        }
        left_before = left;
    }
    assert!(refused.len() >= 10);
    for refused in refused {
        let wait = header(&refused, "retry-after");
        let message = format!("Too many requests. Please retry after {wait} seconds.");
        let message = message.replace(" 1 seconds", " 1 second");
        let body = format!(r#"{{"error":"rate_limit_exceeded","message":"{message}","retry_after":{wait}}}"#);
        assert_eq!(refused.text().await.unwrap(), body);
    }

    // Bob's other requests, and those of others, pass.
    assert_eq!(server.get("/api/hello", ("x-user-id", "bob")).await.status(), 200);
    assert_eq!(server.get("/api/expensive", ("x-other", "")).await.status(), 200);
}

#[tokio::test]
async fn quickstart_in_memory() {
    the_classic_case(&Server::start(example("quickstart"))).await;
}

#[tokio::test]
async fn quickstart_on_redis_is_shared_by_as_many_as_are_started() {
    let redis = RedisServer::start();
    let start = || {
        let mut quickstart = example("quickstart");
        quickstart.env("REDIS_URL", redis.url());
        Server::start(quickstart)
    };
    let [first, second] = [start(), start()];
    // Whoever Redis does not answer within a tenth of a second passes unchecked, as one may on a busy machine: so this asks
    // until they are denied, at one and then at the other.
    for server in [&first, &second] {
        eventually("ten are admitted and one is not", async || {
            server.get("/api/expensive", ("x-user-id", "bob")).await.status() == 429
        })
        .await;
    }
    assert!(keys(&mut redis.client()).contains(&"rate_limit:sliding_counter:user:60000000:1:user:bob".to_owned()));
}

#[test]
fn quickstart_says_what_is_wrong() {
    for (variable, value, words) in [
        ("REDIS_URL", "redis://127.0.0.1:1", "is it running"),
        ("REDIS_URL", "127.0.0.1", "it must be like redis://HOST:PORT"),
        ("LISTEN", "nowhere", "LISTEN=ADDRESS:PORT says where"),
    ] {
        let output = example("quickstart").env(variable, value).output().unwrap();
        assert!(!output.status.success());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(words) && error.lines().count() == 1, "{error}");
    }
}
