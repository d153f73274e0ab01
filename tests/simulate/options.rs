//! The simulator's command line: usage errors, unreadable files, and the sample.

use std::{
    io::{BufRead, BufReader},
    process::Command,
};

use support::project::{root, tollgate};

use super::{Case, Run, two_per_minute};

fn simulate(arguments: &[&str]) -> Run {
    let mut command = tollgate("simulate");
    command.args(arguments).current_dir(root());
    Run::of(command)
}

#[test]
fn invalid_options_are_named() {
    for (arguments, message) in [
        (&["--rule", "x"][..], "unexpected argument '--rule' found"),
        (&["log"], "unexpected argument 'log' found"),
        (
            &["--rules"],
            "a value is required for '--rules <FILE>' but none was supplied",
        ),
        (
            &["--rules", "--log", "x"],
            "a value is required for '--rules <FILE>' but none was supplied",
        ),
        (
            &["--rules", "x", "--store"],
            "a value is required for '--store <STORE>' but none was supplied",
        ),
        (
            &["--log", "x"],
            "the following required arguments were not provided:\n  --rules <FILE>",
        ),
        (
            &["--rules", "x"],
            "the following required arguments were not provided:\n  <--log <FILE>|--trace <FILE>>",
        ),
        (
            &["--rules", "x", "--log", "x", "--trace", "x"],
            "the argument '--log <FILE>' cannot be used with '--trace <FILE>'",
        ),
        (
            &["--rules=x", "--rules", "y", "--log", "x"],
            "the argument '--rules <FILE>' cannot be used multiple times",
        ),
        (
            &["--rules", "x", "--log", "x", "--store", "disk"],
            "--store must be memory or redis://HOST:PORT",
        ),
        (
            &["--rules", "x", "--log", "x", "--store", "http://u:secret@127.0.0.1"],
            "--store cannot be used: url = ",
        ),
        (
            &["--rules", "x", "--trace", "x", "--user-header", "x-user"],
            "the argument '--trace <FILE>' cannot be used with '--user-header <NAME>'",
        ),
        (
            &["--rules", "x", "--trace", "x", "--duration", "1s"],
            "the argument '--trace <FILE>' cannot be used with '--duration <TIME>'",
        ),
        (
            &["--rules", "x", "--log", "x", "--duration", "250"],
            "invalid value '250' for '--duration <TIME>': expected a duration, like 30s, 500ms or 5m",
        ),
        (
            &["--rules", "x", "--log", "x", "--duration", "1440m"],
            "invalid value '1440m' for '--duration <TIME>': the duration must be less than a day",
        ),
        (
            &["--rules", "x", "--log", "x", "--user-header", "x user"],
            "invalid value 'x user' for '--user-header <NAME>': invalid HTTP header name",
        ),
    ] {
        let run = simulate(arguments);
        assert_eq!((run.code, &*run.output), (Some(2), ""), "{arguments:?}");
        assert!(
            run.errors.starts_with(&format!("error: {message}")),
            "{arguments:?}: {}",
            run.errors
        );
        assert!(
            run.errors.contains("--help") && !run.errors.contains("secret"),
            "{}",
            run.errors
        );
    }
}

#[test]
fn unreadable_files_are_named() {
    let case = Case::log(&two_per_minute(), "");
    let file = |name: &str| case.folder.file(name);
    let (rules, missing) = (file("rules.toml"), file("missing"));
    for (arguments, name) in [
        (["--rules", &missing, "--log", &file("input")], &missing),
        (["--rules", &rules, "--log", &missing], &missing),
        (["--rules", &rules, "--trace", &missing], &missing),
        (["--rules", &rules, "--log", &file("")], &file("")),
    ] {
        let error = simulate(&arguments).failure();
        assert!(
            error.starts_with(&format!("error: {name}: ")) && error.lines().count() == 1,
            "{error}"
        );
    }
    let case = Case::log("[[limit]]\nname = \"user\"\nlimit = 0", "");
    let error = case.run(&[]).failure();
    assert!(error.contains("--> rules.toml:3:9\n"), "{error}");
    assert!(error.ends_with("error: rules.toml: 4 errors\n"), "{error}");
}

#[test]
fn no_options_run_the_sample() {
    let run = simulate(&[]);
    assert!(
        run.errors.contains("tollgate simulate --rules FILE --log FILE"),
        "{}",
        run.errors
    );
    let given = simulate(&[
        "--rules",
        "cli/src/simulate/sample.toml",
        "--log",
        "cli/src/simulate/sample.log",
    ]);
    let (_, sample) = run.output.split_once('\n').unwrap();
    assert_eq!((run.code, sample), (Some(0), given.output.split_once('\n').unwrap().1));
    for shown in [
        "all ",
        "user ",
        "search ",
        "login (shadow) ",
        "unreadable lines ",
        "not limited ",
        "2026-11-02 08:00 ",
    ] {
        assert!(sample.lines().any(|line| line.starts_with(shown)), "{shown}: {sample}");
    }
}

#[test]
fn a_closed_stdout_ends_the_run_without_an_error() {
    let line = "{\"at_us\":1700000000000000,\"ip\":\"203.0.113.7\"}\n";
    let case = Case::trace(&two_per_minute(), line.repeat(20_000));
    let mut command: Command = case.command();
    let mut program = command.spawn().unwrap();
    let mut answers = BufReader::new(program.stdout.take().unwrap());
    answers.read_line(&mut String::new()).unwrap();
    drop(answers);
    let run = Run::from(program.wait_with_output().unwrap());
    assert_eq!((run.code, &*run.errors), (Some(0), ""));
}
