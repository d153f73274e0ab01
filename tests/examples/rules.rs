//! The example `rules`: a rules file that changes while it runs.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::Stdio,
};

use reqwest::Client;

use support::{folder::Folder, project::example};

use crate::examples::{Server, header};

const RULES: &str = include_str!("../../examples/rules/rules.toml");

/// Replaces a file atomically, so that no partial file is read.
fn replace(file: &str, text: &str) {
    let new = format!("{file}.new");
    fs::write(&new, text).unwrap();
    fs::rename(&new, file).unwrap();
}

#[tokio::test]
async fn valid_changes_are_applied_and_invalid_changes_are_ignored() {
    let folder = Folder::new("rules");
    let file = folder.file("rules.toml");
    fs::write(&file, RULES).unwrap();
    let mut rules = example("rules");
    rules.arg(&file).stderr(Stdio::piped());
    let mut server = Server::start(rules);
    let mut log = BufReader::new(server.program.stderr.take().unwrap()).lines();
    let mut next_log = |text: &str| log.find(|line| line.as_ref().unwrap().contains(text)).unwrap().unwrap();

    let reports = "/api/reports/1";
    let statuses = server.statuses(6, reports, ("x-user-id", "alice")).await;
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429]);
    assert_eq!(server.statuses(9, "/healthz", ("x-none", "")).await, [200; 9]);
    // Another plan has a higher limit.
    let mut paula = Vec::new();
    for _ in 0..6 {
        let report = Client::new().get(format!("{}{reports}", server.url));
        let report = report.header("x-user-id", "paula").header("x-plan", "pro").send();
        paula.push(report.await.unwrap().status().as_u16());
    }
    assert_eq!(paula, [200; 6]);
    let policy = header(&server.get("/hello", ("x-user-id", "bob")).await, "ratelimit-policy");
    assert_eq!(policy, r#""global";q=10000;w=60, "user";q=100;w=60"#);
    next_log("shadow would have denied request");

    // Counts are kept: two of seven remain.
    replace(&file, &RULES.replace("limit = 5\n", "limit = 7\n"));
    next_log("rules reloaded");
    let statuses = server.statuses(3, reports, ("x-user-id", "alice")).await;
    assert_eq!(statuses, [200, 200, 429]);

    replace(&file, &RULES.replace("limit = 5\n", "limit = \"many\"\n"));
    let error = next_log("the previous rules stay in force");
    let text = "limit \"reports\": limit = \"many\": it must be a whole number";
    assert!(error.contains(text) && error.contains("line 24, column 9"), "{error}");
    assert_eq!(server.statuses(1, reports, ("x-user-id", "bob")).await, [200]);
}

#[tokio::test]
async fn the_default_rules_file_is_beside_the_example() {
    let server = Server::start(example("rules"));
    let report = server.get("/api/reports/1", ("x-user-id", "alice")).await;
    let policy = r#""global";q=10000;w=60, "user";q=100;w=60, "reports";q=5;w=60"#;
    assert_eq!(header(&report, "ratelimit-policy"), policy);
}

#[test]
fn a_missing_or_invalid_file_at_startup_is_reported() {
    let folder = Folder::new("rules");
    let file = folder.file("rules.toml");
    let start = || example("rules").arg(&file).output().unwrap();
    let missing = start();
    fs::write(&file, "[[limit]]\nname = \"user\"\n").unwrap();
    let invalid = start();
    for (output, text) in [
        (missing, "it cannot be read"),
        (invalid, ":1:1: limit \"user\": window is missing"),
    ] {
        assert!(!output.status.success());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(&file) && error.contains(text), "{error}");
    }
}
