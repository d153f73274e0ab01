//! The soak test: its guarantees hold, and its usage errors are explained.

use support::project::program;

/// With this seed, the first three faults are short: scripts flushed, connections silent, and Redis killed.
#[test]
fn guarantees_that_do_not_depend_on_timing_hold() {
    let report = report("faults", "3", "2782");
    // The row for the time between faults, or the row for stalls on a busy machine.
    assert!(
        has_row(&report, "calm ") || has_row(&report, "machine stalled "),
        "{report}"
    );
    for row in ["scripts flushed ", "half-open, silent ", "killed and restarted "] {
        assert!(has_row(&report, row), "{row}: {report}");
    }
}

/// With this seed, the first two phases have a long round trip and a high rate.
#[test]
fn latency_scenario_reports_every_round_trip_and_rate() {
    let report = report("latency", "2", "701");
    for row in ["70 ms, 200/s ", "30 ms, 2000/s "] {
        assert!(has_row(&report, row), "{row}: {report}");
    }
    // Whether it holds needs an idle machine.
    assert!(report.contains(": Redis decides while it is available"), "{report}");
    assert!(!report.contains(": from a second after its repair"), "{report}");
}

/// With this seed, the first two faults are short: one node slow, and another one killed.
#[test]
fn cluster_scenario_reports_the_node_and_the_others() {
    let report = report("cluster", "2", "3166");
    for fault in ["200 ms away ", "killed and restarted "] {
        let mut rows = report.lines().skip_while(|line| !line.starts_with(fault)).skip(1);
        assert!(
            rows.next().is_some_and(|row| row.starts_with("  the other nodes ")),
            "{fault}: {report}"
        );
    }
    // Whether these hold needs an idle machine.
    for guarantee in [
        "Redis decides while it is available",
        "the failure mode decides about the users of an unavailable node",
        "from a second after its repair, Redis decides",
    ] {
        assert!(report.contains(&format!(": {guarantee}")), "{guarantee}: {report}");
    }
    assert!(report.contains(": 1 restarts and "), "{report}");
}

#[test]
fn an_invariant_without_requests_is_not_checked() {
    let output = program("soak")
        .args(["--scenario", "latency", "--faults", "0"])
        .output()
        .unwrap();
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(
        report.contains("\nnot checked: Redis decides while it is available"),
        "{report}"
    );
    assert!(output.status.success(), "{report}");
}

/// The report of a run, in which the guarantees that do not depend on timing hold. The others need an idle machine.
fn report(scenario: &str, faults: &str, seed: &str) -> String {
    let mut soak = program("soak");
    soak.args(["--scenario", scenario, "--faults", faults, "--seed", seed]);
    let output = soak.output().unwrap();
    let report = [output.stdout, output.stderr]
        .map(|text| String::from_utf8(text).unwrap())
        .concat();
    for guarantee in ["every request is answered", "no limit is exceeded", "nothing leaks"] {
        assert!(
            report.contains(&format!("\nholds: {guarantee}")),
            "{guarantee}: {report}"
        );
    }
    assert_eq!(output.status.success(), !report.contains("VIOLATED"), "{report}");
    report
}

fn has_row(report: &str, name: &str) -> bool {
    report.lines().any(|line| line.starts_with(name))
}

#[test]
fn soak_reports_usage_errors_and_a_missing_redis() {
    for (arguments, path, message) in [
        (
            &["--minutes", "soon"][..],
            None,
            "invalid value 'soon' for '--minutes <M>'",
        ),
        (&["--minutes", "0"], None, "give a number, more than 0 and at most 60"),
        (&["--hours"], None, "unexpected argument '--hours' found"),
        (
            &["--scenario", "flood"],
            None,
            "[possible values: faults, latency, cluster]",
        ),
        (
            &["--seed=1", "--seed", "2"],
            None,
            "the argument '--seed <N>' cannot be used multiple times",
        ),
        (&[], Some("/nowhere"), "install redis-server 7 or later"),
    ] {
        let mut soak = program("soak");
        soak.args(arguments);
        path.map(|path| soak.env("PATH", path));
        let output = soak.output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(message), "{error}");
    }
    let help = program("soak").arg("--help").output().unwrap();
    assert!(help.status.success());
    assert!(String::from_utf8(help.stdout).unwrap().contains("--seed <N>"));
}
