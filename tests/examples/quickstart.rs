//! The example `quickstart`, in memory and on Redis.

use support::{
    project::example,
    redis::{RedisServer, keys},
    wait::eventually,
};

use crate::examples::{Server, header, remaining};

/// Checks numbers that also hold if a minute ends meanwhile, so that the test waits for no window.
async fn three_tiers(server: &Server) {
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

    // At most twenty of thirty pass, even if a minute ends meanwhile.
    let mut denied = Vec::new();
    let others = |response: &reqwest::Response| ["global", "user"].map(|tier| remaining(tier, response));
    let mut remaining_before = [10_000, 100];
    for _ in 0..30 {
        let response = server.get("/api/expensive", ("x-user-id", "bob")).await;
        match response.status() == 429 {
            true => denied.push(response),
            false => remaining_before = others(&response),
        }
    }
    assert!(denied.len() >= 10);
    // A request that one tier denies is not charged to the others. (Over time, their remaining quota only grows.)
    let [global, user] = others(&server.get("/api/hello", ("x-user-id", "bob")).await);
    let [global_before, user_before] = remaining_before;
    assert!(
        global + 1 >= global_before && user + 1 >= user_before,
        "{remaining_before:?} {global} {user}"
    );
    for denied in denied {
        let wait = header(&denied, "retry-after");
        assert_eq!(header(&denied, "ratelimit"), format!(r#""expensive";r=0;t={wait}"#));
        let message = format!("Too many requests. Please retry after {wait} seconds.");
        let message = message.replace(" 1 seconds", " 1 second");
        let body = format!(r#"{{"error":"rate_limit_exceeded","message":"{message}","retry_after":{wait}}}"#);
        assert_eq!(denied.text().await.unwrap(), body);
    }

    // Bob's other requests and the requests of other users pass.
    assert_eq!(server.get("/api/hello", ("x-user-id", "bob")).await.status(), 200);
    assert_eq!(server.get("/api/expensive", ("x-other", "")).await.status(), 200);
}

#[tokio::test]
async fn quickstart_in_memory() {
    three_tiers(&Server::start(example("quickstart"))).await;
}

#[tokio::test]
async fn quickstart_on_redis_is_shared_by_two_processes() {
    let redis = RedisServer::start();
    let start = || {
        let mut quickstart = example("quickstart");
        quickstart.env("REDIS_URL", redis.url());
        Server::start(quickstart)
    };
    let [first, second] = [start(), start()];
    // On a busy machine, Redis may exceed the timeout of a tenth of a second and requests pass unchecked, so the test repeats
    // them until one is denied, at both servers.
    for server in [&first, &second] {
        eventually("ten are admitted and one is not", async || {
            server.get("/api/expensive", ("x-user-id", "bob")).await.status() == 429
        })
        .await;
    }
    assert!(keys(&mut redis.client()).contains(&"rate_limit:sliding_counter:user:60000000:1:user:bob".to_owned()));
}

#[test]
fn quickstart_reports_configuration_errors() {
    for (variable, value, message) in [
        ("REDIS_URL", "redis://127.0.0.1:1", "is it running"),
        ("REDIS_URL", "127.0.0.1", "it must be like redis://HOST:PORT"),
        ("LISTEN", "nowhere", "set LISTEN=ADDRESS:PORT to change it"),
    ] {
        let output = example("quickstart").env(variable, value).output().unwrap();
        assert!(!output.status.success());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(message) && error.lines().count() == 1, "{error}");
    }
}
