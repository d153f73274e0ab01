//! The soak: it keeps what it promises, and says what it needs.

use support::project::program;

/// A seed whose first three faults are short: scripts are forgotten, connections fall silent, and Redis is killed.
#[test]
fn soak_keeps_what_no_clock_can_break() {
    let output = program("soak").args(["--faults", "3", "--seed", "2782"]).output();
    let output = output.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // That Redis is asked again within a second is for a machine that has nothing else to do.
    for kept in [
        "every request is answered",
        "no limit is exceeded",
        "nothing is left behind",
    ] {
        assert!(text.contains(&format!("\nkept: {kept}")), "{kept}: {text}");
    }
    assert_eq!(output.status.success(), !text.contains("BROKEN"), "{text}");
    for rows in [
        // Between faults all is calm, unless the machine has so much else to do that it keeps standing still.
        &["calm ", "the machine stood still "][..],
        &["scripts flushed "],
        &["half-open, silent "],
        &["killed and restarted "],
    ] {
        let is_there = |row: &&str| text.lines().any(|line| line.starts_with(*row));
        assert!(rows.iter().any(is_there), "{rows:?}: {text}");
    }
}

#[test]
fn soak_says_what_it_needs() {
    for (arguments, path, words) in [
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
        assert!(error.contains(words), "{error}");
    }
    let help = program("soak").arg("--help").output().unwrap();
    assert!(help.status.success());
    assert!(String::from_utf8(help.stdout).unwrap().contains("--seed <N>"));
}
