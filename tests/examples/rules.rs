//! A rules file that is changed while the example runs.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::Stdio,
};

use reqwest::Client;

use support::{folder::Folder, project::example};

use crate::examples::{Server, header};

const RULES: &str = include_str!("../../examples/rules/rules.toml");

/// Puts another file in its place at once: of one that is written in place, a part may be read.
fn replace(file: &str, text: &str) {
    let new = format!("{file}.new");
    fs::write(&new, text).unwrap();
    fs::rename(&new, file).unwrap();
}

#[tokio::test]
async fn rules_are_taken_when_they_change_and_are_right() {
    let folder = Folder::new("rules");
    let file = folder.file("rules.toml");
    fs::write(&file, RULES).unwrap();
    let mut rules = example("rules");
    rules.arg(&file).stderr(Stdio::piped());
    let mut server = Server::start(rules);
    let mut log = BufReader::new(server.program.stderr.take().unwrap()).lines();
    let mut next_log = |words: &str| {
        log.find(|line| line.as_ref().unwrap().contains(words))
            .unwrap()
            .unwrap()
    };

    let reports = "/api/reports/1";
    let statuses = server.statuses(6, reports, ("x-user-id", "alice")).await;
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429]);
    assert_eq!(server.statuses(9, "/healthz", ("x-none", "")).await, [200; 9]);
    // On another plan, it is not.
    let mut paula = Vec::new();
    for _ in 0..6 {
        let report = Client::new().get(format!("{}{reports}", server.at));
        let report = report.header("x-user-id", "paula").header("x-plan", "pro").send();
        paula.push(report.await.unwrap().status().as_u16());
    }
    assert_eq!(paula, [200; 6]);
    let policy = header(&server.get("/hello", ("x-user-id", "bob")).await, "ratelimit-policy");
    assert_eq!(policy, r#""global";q=10000;w=60, "user";q=100;w=60"#);
    next_log("a shadow would have refused a request");

    // What was used stays used: of seven, two are left.
    replace(&file, &RULES.replace("limit = 5\n", "limit = 7\n"));
    next_log("the rules have changed");
    let statuses = server.statuses(3, reports, ("x-user-id", "alice")).await;
    assert_eq!(statuses, [200, 200, 429]);

    replace(&file, &RULES.replace("limit = 5\n", "limit = \"many\"\n"));
    let error = next_log("those before stay in force");
    let words = "limit \"reports\": limit = \"many\": it must be a whole number";
    assert!(error.contains(words) && error.contains("rules.toml:"), "{error}");
    assert_eq!(server.statuses(1, reports, ("x-user-id", "bob")).await, [200]);
}

#[tokio::test]
async fn rules_are_those_beside_the_example_if_it_is_told_no_others() {
    let server = Server::start(example("rules"));
    let report = server.get("/api/reports/1", ("x-user-id", "alice")).await;
    let policy = r#""global";q=10000;w=60, "user";q=100;w=60, "reports";q=5;w=60"#;
    assert_eq!(header(&report, "ratelimit-policy"), policy);
}

#[test]
fn rules_that_are_wrong_from_the_start_are_told_of() {
    let folder = Folder::new("rules");
    let file = folder.file("rules.toml");
    let start = || example("rules").arg(&file).output().unwrap();
    let missing = start();
    fs::write(&file, "[[limit]]\nname = \"user\"\n").unwrap();
    let wrong = start();
    for (output, words) in [
        (missing, "it cannot be read"),
        (wrong, ":1:1: limit \"user\": there is no window"),
    ] {
        assert!(!output.status.success());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(&file) && error.contains(words), "{error}");
    }
}
