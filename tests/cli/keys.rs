//! `tollgate peek` and `tollgate reset`: the state of a key, given in every notation.

use axum::http::Request;
use serde_json::{Value, json};
use support::{redis::RedisServer, wait::until};
use tollgate::{Operation, RedisStore, RuleSet, Store};

use super::{RULES, Run, folder_with};

/// A Redis in which each limit has counted three requests.
async fn counted() -> (RedisServer, support::folder::Folder) {
    let redis = RedisServer::start();
    let store = RedisStore::builder()
        .url(&redis.url())
        .deadline(support::redis::DEADLINE)
        .build()
        .unwrap();
    let rules = RuleSet::parse(RULES).unwrap();
    let mut request = Request::builder()
        .method("GET")
        .uri("/?tenant=acme")
        .header("x-user-id", "alice")
        .header("x-api-key", "k1")
        .header("cookie", "session=a b:c")
        .body(())
        .unwrap();
    let peer: std::net::SocketAddr = "[2001:db8::7]:80".parse().unwrap();
    request.extensions_mut().insert(peer);
    for _ in 0..3 {
        let charges = rules.charges(&request).unwrap();
        assert!(store.apply(Operation::Acquire(charges)).await.unwrap().admits());
    }
    (redis, folder_with(RULES))
}

/// As `printf k1 | sha256sum | cut -c1-32` prints.
const K1: &str = "apikey:6ab9f1eb8f7d3388f4f9d586f66e99fd";

const ALICE: &str = "rate_limit:fixed_window:user:315360000000000:x-user-id:alice";

/// A limit, a notation of its key, and the key.
const KEYS: [(&str, &[&str], &str); 15] = [
    ("all", &[], "global"),
    ("all", &["global"], "global"),
    ("user", &["header:x-user-id=alice"], "x-user-id:alice"),
    ("user", &["x-user-id=alice"], "x-user-id:alice"),
    ("user", &["X-User-Id=alice"], "x-user-id:alice"),
    ("user", &["header=alice"], "x-user-id:alice"),
    ("user", &["x-user-id:alice"], "x-user-id:alice"),
    ("user", &[ALICE], "x-user-id:alice"),
    // As `printf %s x-user-id:alice | sha256sum | cut -c1-16` prints.
    ("user", &["14fcf822b106b68a"], "x-user-id:alice"),
    ("partner", &["apikey=k1"], K1),
    ("partner", &["apikey:x-api-key=k1"], K1),
    ("partner", &["x-api-key=k1"], K1),
    (
        "tenant",
        &["tenant=acme", "session=a b:c", "method=GET"],
        "query/tenant:acme:cookie/session:#",
    ),
    (
        "tenant",
        &["method=GET", "cookie=a b:c", "query=acme"],
        "query/tenant:acme:cookie/session:#",
    ),
    (
        "tenant",
        &["query:tenant=acme", "cookie:session=a b:c", "method=GET"],
        "query/tenant:acme:cookie/session:#",
    ),
];

fn arguments<'a>(
    subcommand: &'a str,
    store: &'a str,
    limit: &'a str,
    keys: &[&'a str],
    more: &[&'a str],
) -> Vec<&'a str> {
    let mut arguments = vec![subcommand, "--rules", "rules.toml", "--store", store, "--limit", limit];
    keys.iter().for_each(|key| arguments.extend(["--key", key]));
    arguments.extend(more);
    arguments
}

#[tokio::test]
async fn every_notation_of_a_key_is_accepted() {
    let (redis, folder) = counted().await;
    let store = redis.url();
    for (limit, keys, key) in KEYS {
        let run = Run::in_a_pipe(folder.path(), &arguments("peek", &store, limit, keys, &["--json"]));
        let state: Value = serde_json::from_str(&run.success()).unwrap();
        let used = if limit == "all" { 997 } else { 7 };
        assert_eq!(state["remaining"], used, "{keys:?}: {state}");
        assert_eq!(state["is_unused"], false, "{keys:?}: {state}");
        let identity = state["identity"].as_str().unwrap();
        // A value with unsafe characters is a digest in the key.
        assert!(identity.starts_with(key), "{keys:?}: {state}");
        let redis_key = state["redis_key"].as_str().unwrap();
        assert!(
            redis_key.starts_with("rate_limit:fixed_window:") && redis_key.ends_with(identity),
            "{state}"
        );
        // By the digest in logs, and by the key in Redis.
        for also in [state["digest"].as_str().unwrap(), redis_key] {
            let run = Run::in_a_pipe(folder.path(), &arguments("peek", &store, limit, &[also], &["--json"]));
            assert_eq!(
                serde_json::from_str::<Value>(&run.success()).unwrap()["identity"],
                identity,
                "{also}"
            );
        }
    }
}

#[tokio::test]
async fn an_unused_key_is_full() {
    let (redis, folder) = counted().await;
    let store = redis.url();
    for (limit, keys, identity) in [
        ("user", &["ip=2001:db8::7"][..], "ip:[2001:db8::]/64"),
        ("user", &["ip=192.0.2.1"], "ip:192.0.2.1"),
        ("user", &["x-user-id=bob"], "x-user-id:bob"),
        ("partner", &[], "~none"),
        ("tenant", &["method=DELETE"], "~none:~none:method:DELETE"),
        ("tenant", &["method=BREW"], "~none:~none:method:other"),
    ] {
        let run = Run::in_a_pipe(folder.path(), &arguments("peek", &store, limit, keys, &["--json"]));
        let state: Value = serde_json::from_str(&run.success()).unwrap();
        assert_eq!(
            (&state["identity"], &state["is_unused"]),
            (&json!(identity), &json!(true)),
            "{state}"
        );
        assert_eq!(
            (&state["remaining"], &state["full_in_us"]),
            (&json!(10), &json!(0)),
            "{state}"
        );
    }
}

#[tokio::test]
async fn peek_prints_the_state_of_a_key_without_changing_it() {
    let (redis, folder) = counted().await;
    let store = redis.url();
    let peek = || {
        Run::in_a_pipe(
            folder.path(),
            &arguments("peek", &store, "user", &["x-user-id=alice"], &[]),
        )
        .success()
    };
    let first = peek();
    let lines: Vec<_> = first.lines().collect();
    assert_eq!(
        lines[..5],
        [
            "limit      user: 10 per 315360000s, fixed_window",
            "key        x-user-id:alice",
            "in logs    14fcf822b106b68a",
            &format!("in Redis   {ALICE}"),
            "remaining  7 of 10",
        ]
    );
    assert!(lines[5].starts_with("full in    "), "{first}");
    assert_eq!(peek().lines().nth(4), Some("remaining  7 of 10"));
    let plan = arguments("peek", &store, "user", &["x-user-id=alice"], &["--plan", "pro"]);
    let plan = Run::in_a_pipe(folder.path(), &plan).success();
    assert!(plan.contains("remaining  97 of 100\n"), "{plan}");
}

#[tokio::test]
async fn reset_restores_the_quota_of_a_key() {
    let (redis, folder) = counted().await;
    let store = redis.url();
    let reset = |key: &str, more: &[&str]| {
        Run::in_a_pipe(folder.path(), &arguments("reset", &store, "user", &[key], more)).success()
    };
    let printed = reset("14fcf822b106b68a", &[]);
    assert!(printed.ends_with("remaining  10 of 10, 7 before\n"), "{printed}");
    let printed = reset("x-user-id=alice", &[]);
    assert!(
        printed.ends_with("remaining  10 of 10, the key was unused\n"),
        "{printed}"
    );
    let state: Value = serde_json::from_str(&reset("x-user-id=alice", &["--json"])).unwrap();
    assert_eq!(
        state,
        json!({
            "limit": "user",
            "identity": "x-user-id:alice",
            "algorithm": "fixed_window",
            "quota": "10 per 315360000s",
            "remaining": 10,
            "full_in_us": 0,
            "digest": "14fcf822b106b68a",
            "redis_key": ALICE,
            "was_unused": true,
            "remaining_before": 10,
        })
    );
    // Other keys are unchanged.
    let all = Run::in_a_pipe(folder.path(), &arguments("peek", &store, "all", &[], &[])).success();
    assert!(all.contains("remaining  997 of 1000\n"), "{all}");
}

/// A leased bucket holds less, and the lease is part of its key and that of a log.
#[tokio::test]
async fn keys_of_leased_limits() {
    let terms = "limit = 10\nwindow = \"365d\"\nkey = \"header:x-user-id\"\nlease = \"1m\"";
    let limits = ["token_bucket", "sliding_log", "sliding_counter"]
        .map(|algorithm| format!("[[limit]]\nname = \"{algorithm}\"\nalgorithm = \"{algorithm}\"\n{terms}\n"));
    let rules = limits.concat();
    let (redis, folder) = (RedisServer::start(), folder_with(&rules));
    let node = redis.store().build().unwrap();
    let request = Request::builder().header("x-user-id", "alice").body(()).unwrap();
    for _ in 0..3 {
        let charges = RuleSet::parse(&rules).unwrap().charges(&request).unwrap();
        assert!(node.apply(Operation::Acquire(charges)).await.unwrap().admits());
    }
    let store = redis.url();
    for (limit, summary, key, remaining) in [
        (
            "token_bucket",
            "10 per 31536000s, token_bucket, lease 60s",
            "rate_limit:token_bucket:token_bucket:31536000000000:lease60000000:x-user-id:alice",
            "6 of 9",
        ),
        (
            "sliding_log",
            "10 per 31536000s, sliding_log, lease 60s",
            "rate_limit:sliding_log:sliding_log:31536000000000:lease60000000:x-user-id:alice",
            "7 of 10",
        ),
        (
            "sliding_counter",
            "10 per 31536000s, sliding_counter, lease 60s",
            "rate_limit:sliding_counter:sliding_counter:31536000000000:1:x-user-id:alice",
            "7 of 10",
        ),
    ] {
        for notation in ["x-user-id=alice", "x-user-id:alice", "14fcf822b106b68a", key] {
            let printed = Run::in_a_pipe(folder.path(), &arguments("peek", &store, limit, &[notation], &[])).success();
            assert!(
                printed.starts_with(&format!("limit      {limit}: {summary}\n")),
                "{printed}"
            );
            assert!(
                printed.contains(&format!("\nin Redis   {key}\nremaining  {remaining}\n")),
                "{printed}"
            );
        }
        let printed = Run::in_a_pipe(folder.path(), &arguments("reset", &store, limit, &[key], &[])).success();
        let (before, capacity) = remaining.split_once(" of ").unwrap();
        let restored = format!("remaining  {capacity} of {capacity}, {before} before\n");
        assert!(printed.ends_with(&restored), "{printed}");
    }
}

/// Acquires slots as a process does that ends with this runtime.
fn hold(redis: &RedisServer, rules: &str, times: usize) -> (tokio::runtime::Runtime, RedisStore) {
    let mut process = tokio::runtime::Builder::new_multi_thread();
    let process = process.worker_threads(1).enable_all().build().unwrap();
    let node = redis.store().build().unwrap();
    process.block_on(async {
        let request = Request::builder().header("x-user-id", "alice").body(()).unwrap();
        for _ in 0..times {
            let charges = RuleSet::parse(rules).unwrap().charges(&request).unwrap();
            assert!(node.apply(Operation::Acquire(charges)).await.unwrap().admits());
        }
    });
    (process, node)
}

/// The key of a concurrency limit has no window, and its state is what is held.
#[test]
fn keys_of_concurrency_limits() {
    let rules = "[[limit]]\nname = \"exports\"\nalgorithm = \"concurrency\"\nlimit = 5\nkey = \"header:x-user-id\"\n\
        time_to_live = \"6s\"\n";
    let key = "rate_limit:concurrency:exports:x-user-id:alice";
    let (redis, folder) = (RedisServer::start(), folder_with(rules));
    let store = redis.url();
    let run = |subcommand: &str, key: &str, more: &[&str]| {
        Run::in_a_pipe(folder.path(), &arguments(subcommand, &store, "exports", &[key], more)).success()
    };
    let unused = run("peek", "x-user-id=alice", &[]);
    assert!(
        unused.ends_with(&format!("in Redis   {key}\nheld       0 of 5\n")),
        "{unused}"
    );
    let unused = run("reset", key, &[]);
    assert!(
        unused.ends_with("\nheld       0 of 5, the key was unused\n"),
        "{unused}"
    );

    let (process, _node) = hold(&redis, rules, 3);
    for notation in ["x-user-id=alice", "x-user-id:alice", "14fcf822b106b68a", key] {
        let printed = run("peek", notation, &[]);
        let lines =
            "limit      exports: 5 at once, concurrency\nkey        x-user-id:alice\nin logs    14fcf822b106b68a\n";
        assert_eq!(printed, format!("{lines}in Redis   {key}\nheld       3 of 5\n"));
    }
    let state: Value = serde_json::from_str(&run("peek", key, &["--json"])).unwrap();
    let expected = json!({
        "limit": "exports",
        "identity": "x-user-id:alice",
        "algorithm": "concurrency",
        "quota": "5 at once",
        "remaining": 2,
        "held": 3,
        "digest": "14fcf822b106b68a",
        "redis_key": key,
        "is_unused": false,
    });
    assert_eq!(state, expected);

    // The process is running and renews what it holds.
    let printed = run("reset", key, &[]);
    assert!(
        printed.contains("\nheld       0 of 5, 3 before\nA running process renews"),
        "{printed}"
    );
    until("it is renewed", || {
        run("peek", key, &[]).ends_with("\nheld       3 of 5\n")
    });
    // It crashes.
    process.shutdown_background();
    let state: Value = serde_json::from_str(&run("reset", key, &["--json"])).unwrap();
    assert_eq!(
        (&state["held"], &state["held_before"]),
        (&json!(0), &json!(3)),
        "{state}"
    );
    assert!(run("peek", key, &[]).ends_with("\nheld       0 of 5\n"));
}

#[tokio::test]
async fn keys_of_another_prefix_are_separate() {
    let (redis, folder) = counted().await;
    let store = redis.url();
    let peek = arguments(
        "peek",
        &store,
        "user",
        &["x-user-id=alice"],
        &["--prefix", "other", "--json"],
    );
    let state: Value = serde_json::from_str(&Run::in_a_pipe(folder.path(), &peek).success()).unwrap();
    assert_eq!(state["redis_key"], ALICE.replace("rate_limit:", "other:"));
    assert_eq!(state["is_unused"], true);
}

#[tokio::test]
async fn invalid_keys_and_an_unreachable_redis_are_reported() {
    let (mut redis, folder) = counted().await;
    let store = redis.url();
    for (limit, keys, more, line) in [
        (
            "usr",
            &["x-user-id=alice"][..],
            &[][..],
            "there is no limit \"usr\"; the limits are all, user, partner, tenant, pair",
        ),
        (
            "user",
            &["x-user-id=alice"],
            &["--plan", "gold"],
            "the limit \"user\" has no plan \"gold\"",
        ),
        (
            "user",
            &["tenant=acme"],
            &[],
            "--key = tenant: it must be header:x-user-id=VALUE, or ip=ADDRESS instead",
        ),
        (
            "user",
            &[],
            &[],
            "--key = nothing: it must be header:x-user-id=VALUE, or ip=ADDRESS instead",
        ),
        (
            "user",
            &["x-user-id="],
            &[],
            "--key = header:x-user-id=: it must have a value",
        ),
        (
            "user",
            &["ip=here"],
            &[],
            "--key = ip=here: it must be an address, like 192.0.2.1 or 2001:db8::1",
        ),
        (
            "partner",
            &["alice"],
            &[],
            "--key = alice: it must be apikey:x-api-key=VALUE",
        ),
        (
            "all",
            &["user=alice"],
            &[],
            "--key = user: it must be omitted: all requests share one key",
        ),
        // A value that cannot be a key of the limit is not searched for, so no secret is sent to Redis.
        (
            "partner",
            &["apikey:k1"],
            &[],
            "--key = apikey:..: it must be apikey:x-api-key=VALUE",
        ),
        ("partner", &[ALICE], &[], "--key: this key belongs to the limit user"),
        (
            "user",
            &["foo:bar"],
            &[],
            "--key = foo:..: it must be header:x-user-id=VALUE, or ip=ADDRESS instead",
        ),
        (
            "pair",
            &["header=1"],
            &[],
            "--key = header: it must be header:x-a=VALUE and header:x-b=VALUE",
        ),
        (
            "pair",
            &["x-a=1", "header:x-a=2"],
            &[],
            "--key = header:x-a: it must be given once",
        ),
        (
            "user",
            &["0123456789abcdef"],
            &[],
            "no key of the limit \"user\" has the digest 0123456789abcdef: the key has expired, or it belongs to another limit",
        ),
    ] {
        let run = Run::in_a_pipe(folder.path(), &arguments("peek", &store, limit, keys, more));
        assert_eq!(run.failure(), line);
    }
    redis.kill();
    for keys in [&["x-user-id=alice"][..], &["14fcf822b106b68a"]] {
        let line = Run::in_a_pipe(folder.path(), &arguments("reset", &store, "user", keys, &[])).failure();
        assert!(line.contains("Redis at 127.0.0.1:"), "{line}");
    }
}

/// The frozen Redis accepts connections and does not answer.
#[tokio::test]
async fn an_unresponsive_redis_is_named() {
    let (redis, folder) = counted().await;
    let store = redis.url();
    redis.freeze();
    let check = vec!["check", "--store", &*store];
    let by_value = |subcommand| arguments(subcommand, &store, "user", &["x-user-id=alice"], &[]);
    let by_digest = arguments("peek", &store, "user", &["14fcf822b106b68a"], &[]);
    std::thread::scope(|scope| {
        for arguments in [check, by_value("peek"), by_value("reset"), by_digest] {
            let (folder, redis) = (&folder, &redis);
            scope.spawn(move || {
                let line = Run::in_a_pipe(folder.path(), &arguments).failure();
                let address = format!("Redis at 127.0.0.1:{}", redis.port());
                assert!(line.contains(&address), "{arguments:?}: {line}");
            });
        }
    });
}

/// A value that was forgotten is no empty one, which a descriptor can have.
#[tokio::test]
async fn a_key_of_a_descriptor_needs_its_value() {
    let redis = RedisServer::start();
    let folder = folder_with(
        "[[limit]]\nname = 'tenant'\ndomain = 'edge'\nalgorithm = 'fixed_window'\nlimit = 10\nwindow = '1h'\ndescriptor = ['tenant']\n",
    );
    let run = |key| Run::in_a_pipe(folder.path(), &arguments("peek", &redis.url(), "tenant", &[key], &[]));
    assert_eq!(run("tenant").failure(), "--key = tenant: it must be tenant=VALUE");
    run("tenant=").success();
    run("tenant=acme").success();
}
