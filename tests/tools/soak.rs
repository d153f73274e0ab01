//! The soak test: its guarantees hold, and its usage errors are explained.

use support::project::program;

/// With this seed, the first three faults are short: scripts flushed, connections silent, and Redis killed.
#[test]
fn guarantees_that_do_not_depend_on_timing_hold() {
    let output = program("soak").args(["--faults", "3", "--seed", "2782"]).output();
    let output = output.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // The guarantee of recovery within a second is not checked: it needs an idle machine.
    for guarantee in ["every request is answered", "no limit is exceeded", "nothing leaks"] {
        assert!(text.contains(&format!("\nholds: {guarantee}")), "{guarantee}: {text}");
    }
    assert_eq!(output.status.success(), !text.contains("VIOLATED"), "{text}");
    for rows in [
        // The row for the time between faults, or the row for stalls on a busy machine.
        &["calm ", "machine stalled "][..],
        &["scripts flushed "],
        &["half-open, silent "],
        &["killed and restarted "],
    ] {
        let is_there = |row: &&str| text.lines().any(|line| line.starts_with(*row));
        assert!(rows.iter().any(is_there), "{rows:?}: {text}");
    }
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
