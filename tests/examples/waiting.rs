//! The examples in which somebody waits.

use crate::example;

/// What it says, by lines.
fn output(name: &str) -> Vec<String> {
    let output = example(name).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    text.lines().map(str::to_owned).collect()
}

#[test]
fn client() {
    let lines = output("client");
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0], "without a limit: 10 served, 25 refused");
    assert!(
        lines[1].starts_with("with a limit: 35 served, 0 refused, in "),
        "{lines:?}"
    );
}

#[test]
fn jobs() {
    let lines = output("jobs");
    for (job, line) in (1..=4).zip(&lines) {
        assert!(line.starts_with(&format!("job {job} started after ")), "{lines:?}");
    }
    let rest = [
        "job 4 failed: 2 are left for today",
        "jobs 5 and 6: admitted",
        "job 7: limited, come back in 24 hours",
        "left for tenant:acme: jobs.daily 0, jobs.all 995",
        "left after a reset: jobs.daily 5, jobs.all 995",
    ];
    assert_eq!(lines[4..], rest);
}
