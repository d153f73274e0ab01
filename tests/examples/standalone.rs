//! Examples that print their output and exit.

use std::process::Command;

use support::{project::example, redis::RedisServer};

/// The output lines of an example.
fn output(name: &str) -> Vec<String> {
    output_of(&mut example(name))
}

fn output_of(example: &mut Command) -> Vec<String> {
    let output = example.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Each line ends with a time, to a tenth of a second, that is not before the expected one; a slow machine may be later.
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
    // How many are served in real time depends on the load of the machine.
    for (line, starts) in lines.iter().zip(["without a limit: ", "with a limit: "]) {
        let (served, rest) = line.strip_prefix(starts).unwrap().split_once(" served, ").unwrap();
        let (denied, _) = rest.split_once(" rejected").unwrap();
        let [served, denied]: [u32; 2] = [served, denied].map(|number| number.parse().unwrap());
        assert!(served >= 10 && served + denied == 35, "{lines:?}");
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
        "job 4 failed: 2 remaining today",
        "jobs 5 and 6: admitted",
        "job 7: limited, retry after 24 hours",
        "remaining for tenant:acme: jobs.daily 0, jobs.all 995",
        "remaining after a reset: jobs.daily 5, jobs.all 995",
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
    let released = [
        ("call 1 ran after ", 0.0),
        ("call 2 ran after ", 0.5),
        ("call 3 ran after ", 1.0),
        ("call 4 ran after ", 1.5),
        ("call 5 ran after ", 2.0),
    ];
    not_before(&released, &lines[4..]);
}

/// Twenty requests through five algorithms, with a simulated clock.
#[test]
fn compare_is_the_same_on_both_stores() {
    let (memory, redis) = (output("compare"), RedisServer::start());
    let shared = output_of(example("compare").env("REDIS_URL", redis.url()));
    assert_eq!(memory, shared);
    assert_eq!(
        memory[3..],
        [
            "token_bucket          10       0   retry after 4s",
            "leaky_bucket          10       0   retry after 4s",
            "fixed_window          10      10   admitted",
            "sliding_log           10       0   retry after 58s",
            "sliding_counter       10       1   retry after 5.000001s",
        ]
    );
}
