//! The log: a debug line per rejected request, none per served request, and reloads of the rules.

use std::fs::{self, File};

use axum::http::Method;

use support::{
    folder::Folder,
    http::Reply,
    redis::RedisServer,
    wait::{eventually, until},
};

use crate::{
    gateway::{
        fixture::{Gateway, program},
        service::Service,
    },
    server_process::Running,
};

/// Two requests per user and four in total, in a window that does not end while a test runs.
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

async fn request_as(gateway: &Gateway, user: &str) -> u16 {
    Reply::to(gateway.request(Method::GET, "/").header("x-user-id", user))
        .await
        .status
}

/// The lines that a request by this user adds to the log, without the time.
async fn logs(gateway: &Gateway, user: &str, status: u16) -> Vec<String> {
    let before = gateway.log();
    assert_eq!(request_as(gateway, user).await, status);
    let after = gateway.log();
    let new = after.strip_prefix(&before).unwrap().lines();
    new.map(|line| line.split_once(' ').unwrap().1.trim_start().to_owned())
        .collect()
}

const DENIED: &str = "DEBUG tollgate::decision: request denied";

async fn denials_are_logged_by(gateway: &Gateway) {
    for (user, status, lines) in [
        ("alice", 200, &[][..]),
        ("alice", 200, &[]),
        // As `printf %s x-user-id:alice | sha256sum | cut -c1-16` prints.
        ("alice", 429, &["limit=\"user\" key=14fcf822b106b68a outcome=limited"]),
        ("alice", 429, &["limit=\"user\" key=14fcf822b106b68a outcome=limited"]),
        ("bob", 200, &[]),
        ("carol", 200, &[]),
        // One line, with the limit that denies.
        ("carol", 429, &["limit=\"all\" key=8001c27439650c5c outcome=limited"]),
    ] {
        let lines: Vec<_> = lines.iter().map(|line| format!("{DENIED} {line}")).collect();
        assert_eq!(logs(gateway, user, status).await, lines, "{user}");
    }
    // A request without a key is rejected too.
    let lines = logs(gateway, "", 400).await;
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("request rejected: its key is missing or ambiguous"),
        "{lines:?}"
    );
}

#[tokio::test]
async fn debug_logs_one_line_per_denial_and_none_per_served_request() {
    let (redis, service) = (RedisServer::start(), Service::start().await);
    denials_are_logged_by(&Gateway::with_redis(&service, &redis, RULES, &["--log", "debug"])).await;
    denials_are_logged_by(&Gateway::with_upstream(&service.url(), RULES, &["--log", "debug"])).await;
}

#[tokio::test]
async fn info_logs_no_requests() {
    let service = Service::start().await;
    for options in [&[][..], &["--log", "info"], &["--log", "warn"], &["--log", "error"]] {
        let gateway = Gateway::with_upstream(&service.url(), RULES, options);
        for status in [200, 200, 429, 429] {
            assert_eq!(logs(&gateway, "alice", status).await, [""; 0], "{options:?}");
        }
    }
}

/// Without a banner, the log is all that an operator sees.
#[test]
fn a_wrong_password_is_an_error_at_the_start_of_a_quiet_gateway() {
    let redis = RedisServer::start_with(&["--requirepass", "secret"]);
    let folder = Folder::new("quiet");
    let log = folder.file("log");
    let mut program = program();
    program.args(["--quiet", "--listen", "127.0.0.1:0", "--store", &redis.url()]);
    let _gateway = Running {
        child: program.stderr(File::create(&log).unwrap()).spawn().unwrap(),
        banner: String::new(),
    };
    let message = "ERROR tollgate::server: Redis cannot be used at the start; the failure mode decides until the configuration is fixed";
    until("the error is logged", || {
        let log = fs::read_to_string(&log).unwrap();
        log.contains(message) && log.contains("give it a password")
    });
}

#[tokio::test]
async fn reloads_and_invalid_rules_are_logged() {
    let gateway = Gateway::start(RULES, &[]);
    let file = gateway.rules();
    let count = |text: &str| {
        gateway
            .log()
            .lines()
            .filter(|line| line.contains(text) && line.contains(&file))
            .count()
    };
    gateway.replace_rules(&RULES.replace("limit = 4", "limit = 5"));
    eventually("the change is logged", async || count("rules reloaded") == 1).await;
    gateway.replace_rules(&RULES.replace("limit = 4", "limit = 0"));
    eventually("the error is logged", async || {
        count("line 12, column 9: limit \"all\"") == 1
    })
    .await;
    gateway.replace_rules(RULES);
    eventually("the change is logged", async || count("rules reloaded") == 2).await;
    // Once each, and not at every poll of the file.
    assert_eq!(gateway.log().lines().count(), 3, "{}", gateway.log());
}
