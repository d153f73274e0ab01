//! What is logged: a line for each request that is refused, at debug, none for those that are served, and what becomes of the
//! rules.

use axum::http::Method;

use support::{http::Reply, patience::eventually, redis::RedisServer};

use crate::gateway::{fixture::Gateway, service::Service};

/// Two for each user, and four for all, in a window that does not end while a test runs.
const RULES: &str = "
[[limit]]
name = 'user'
algorithm = 'fixed_window'
limit = 2
window = '3650d'
key = 'header:x-user-id'

[[limit]]
name = 'all'
algorithm = 'fixed_window'
limit = 4
window = '3650d'
key = 'global'
";

async fn ask_as(gateway: &Gateway, user: &str) -> u16 {
    Reply::to(gateway.request(Method::GET, "/").header("x-user-id", user))
        .await
        .status
}

/// What a request by this user has added to the log: each line without the time.
async fn logs(gateway: &Gateway, user: &str, status: u16) -> Vec<String> {
    let before = gateway.log();
    assert_eq!(ask_as(gateway, user).await, status);
    let after = gateway.log();
    let new = after.strip_prefix(&before).unwrap().lines();
    new.map(|line| line.split_once(' ').unwrap().1.trim_start().to_owned())
        .collect()
}

const REFUSED: &str = "DEBUG tollgate::service::gate: a request is refused";

async fn refusals_are_logged_by(gateway: &Gateway) {
    for (user, status, lines) in [
        ("alice", 200, &[][..]),
        ("alice", 200, &[]),
        // As `printf %s x-user-id:alice | sha256sum | cut -c1-16` says.
        ("alice", 429, &["limit=\"user\" key=14fcf822b106b68a outcome=limited"]),
        ("alice", 429, &["limit=\"user\" key=14fcf822b106b68a outcome=limited"]),
        ("bob", 200, &[]),
        ("carol", 200, &[]),
        // One line, by the limit that refuses.
        ("carol", 429, &["limit=\"all\" key=8001c27439650c5c outcome=limited"]),
    ] {
        let lines: Vec<_> = lines.iter().map(|line| format!("{REFUSED} {line}")).collect();
        assert_eq!(logs(gateway, user, status).await, lines, "{user}");
    }
    // Who cannot be counted is refused too.
    let lines = logs(gateway, "", 400).await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("a request cannot be counted, and is refused"),
        "{lines:?}"
    );
}

#[tokio::test]
async fn at_debug_there_is_one_line_for_each_refusal_and_none_for_the_served() {
    let (redis, service) = (RedisServer::start(), Service::start().await);
    refusals_are_logged_by(&Gateway::between(&service, &redis, RULES, &["--log", "debug"])).await;
    refusals_are_logged_by(&Gateway::to(&service.url(), RULES, &["--log", "debug"])).await;
}

#[tokio::test]
async fn at_info_no_request_is_logged() {
    let service = Service::start().await;
    for options in [&[][..], &["--log", "info"], &["--log", "warn"], &["--log", "error"]] {
        let gateway = Gateway::to(&service.url(), RULES, options);
        for status in [200, 200, 429, 429] {
            assert_eq!(logs(&gateway, "alice", status).await, [""; 0], "{options:?}");
        }
    }
}

#[tokio::test]
async fn what_becomes_of_the_rules_is_logged() {
    let gateway = Gateway::start(RULES, &[]);
    let file = gateway.rules();
    let count = |words: &str| {
        gateway
            .log()
            .lines()
            .filter(|line| line.contains(words) && line.contains(&file))
            .count()
    };
    gateway.change(&RULES.replace("limit = 4", "limit = 5"));
    eventually("the change is logged", async || count("the rules have changed") == 1).await;
    gateway.change(&RULES.replace("limit = 4", "limit = 0"));
    eventually("what is wrong is logged", async || {
        count("rules.toml:12:9: limit \"all\"") == 1
    })
    .await;
    gateway.change(RULES);
    eventually("the change is logged", async || count("the rules have changed") == 2).await;
    // Once each, and not each time that somebody looks.
    assert_eq!(gateway.log().lines().count(), 3, "{}", gateway.log());
}
