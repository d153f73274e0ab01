//! The examples in which somebody waits.

use support::project::example;

/// What it says, by lines.
fn output(name: &str) -> Vec<String> {
    let output = example(name).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    text.lines().map(str::to_owned).collect()
}

/// What was done, and when at the earliest: a machine may be slow. They tell a tenth of a second.
#[track_caller]
fn not_before(times: &[(&str, f64)], lines: &[String]) {
    for ((start, earliest), line) in times.iter().zip(lines) {
        let time = line.strip_prefix(start).and_then(|rest| rest.strip_suffix(" s"));
        let time: f64 = time
            .and_then(|time| time.parse().ok())
            .unwrap_or_else(|| panic!("{lines:?}"));
        assert!(time >= *earliest, "{lines:?}");
    }
}

#[test]
fn client() {
    let lines = output("client");
    assert_eq!(lines.len(), 2, "{lines:?}");
    // How many of them a real clock lets pass is up to how busy the machine is.
    for (line, starts) in lines.iter().zip(["without a limit: ", "with a limit: "]) {
        let (served, rest) = line.strip_prefix(starts).unwrap().split_once(" served, ").unwrap();
        let (refused, _) = rest.split_once(" refused").unwrap();
        let [served, refused]: [u32; 2] = [served, refused].map(|number| number.parse().unwrap());
        assert!(served >= 10 && served + refused == 35, "{lines:?}");
    }
}

#[test]
fn jobs() {
    let lines = output("jobs");
    let started = [
        ("job 1 started after ", 0.0),
        ("job 2 started after ", 0.0),
        ("job 3 started after ", 0.5),
        ("job 4 started after ", 1.0),
    ];
    not_before(&started, &lines);
    let rest = [
        "job 4 failed: 2 are left for today",
        "jobs 5 and 6: admitted",
        "job 7: limited, come back in 24 hours",
        "left for tenant:acme: jobs.daily 0, jobs.all 995",
        "left after a reset: jobs.daily 5, jobs.all 995",
    ];
    assert_eq!(lines[4..], rest);
}

#[test]
fn not_http() {
    let lines = output("not_http");
    assert_eq!(lines.len(), 9, "{lines:?}");
    assert_eq!(lines[..2], ["acme: 1 became 2", "acme: 2 became 4"]);
    assert!(lines[2].starts_with("acme: Too many requests."), "{lines:?}");
    assert_eq!(lines[3], "initech: 4 became 8");
    let left = [
        ("call 1 left after ", 0.0),
        ("call 2 left after ", 0.5),
        ("call 3 left after ", 1.0),
        ("call 4 left after ", 1.5),
        ("call 5 left after ", 2.0),
    ];
    not_before(&left, &lines[4..]);
}
