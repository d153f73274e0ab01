//! How it is called: what is wrong is named, and what the help shows works.

use std::{
    io::{BufRead, BufReader},
    process::Command,
};

use support::project::{program, root};

use super::{Case, Run, two_a_minute};

fn simulate(arguments: &[&str]) -> Run {
    let mut command = program("simulate");
    command.args(arguments).current_dir(root());
    Run::of(command)
}

#[test]
fn wrong_options_are_named() {
    for (arguments, words) in [
        (
            &["--rule", "x"][..],
            "there is no option --rule: there are --rules, --log",
        ),
        (&["log"], "there is no option log"),
        (&["--rules"], "--rules needs a file"),
        (&["--rules", "--log", "x"], "--rules needs a file"),
        (
            &["--rules", "x", "--store"],
            "--store needs memory or redis://HOST:PORT",
        ),
        (&["--log", "x"], "which rules? give them with --rules FILE"),
        (
            &["--rules", "x"],
            "which requests? give them with --log FILE or with --trace FILE",
        ),
        (
            &["--rules", "x", "--log", "x", "--trace", "x"],
            "--trace and --log are both given: give one of them",
        ),
        (
            &["--rules=x", "--rules", "y", "--log", "x"],
            "--rules is given twice: give it once",
        ),
        (
            &["--rules", "x", "--log", "x", "--store", "disk"],
            "--store needs memory or redis://HOST:PORT, and \"disk\" is neither",
        ),
        (
            &["--rules", "x", "--log", "x", "--store", "http://u:secret@127.0.0.1"],
            "--store cannot be used: url = ",
        ),
        (
            &["--rules", "x", "--trace", "x", "--user-header", "x-user"],
            "--user-header is for --log",
        ),
        (
            &["--rules", "x", "--log", "x", "--user-header", "x user"],
            "--user-header needs a header's name, like x-user-id, and \"x user\" is none",
        ),
    ] {
        let run = simulate(arguments);
        assert_eq!((run.code, &*run.output), (Some(2), ""), "{arguments:?}");
        assert!(run.errors.starts_with(words), "{arguments:?}: {}", run.errors);
        assert!(
            run.errors.contains("--help") && !run.errors.contains("secret"),
            "{}",
            run.errors
        );
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let case = Case::log(&two_a_minute(), "");
    let file = |name: &str| case.folder.file(name);
    let (rules, missing) = (file("rules.toml"), file("missing"));
    for (arguments, name) in [
        (["--rules", &missing, "--log", &file("happened")], &missing),
        (["--rules", &rules, "--log", &missing], &missing),
        (["--rules", &rules, "--trace", &missing], &missing),
        (["--rules", &rules, "--log", &file("")], &file("")),
    ] {
        let error = simulate(&arguments).failed();
        assert!(
            error.starts_with(&format!("{name}: ")) && error.lines().count() == 1,
            "{error}"
        );
    }
    let case = Case::log("[[limit]]\nname = \"user\"\nlimit = 0", "");
    let error = case.run(&[]).failed();
    assert!(
        error.lines().count() > 1 && error.lines().all(|line| line.starts_with("rules.toml:")),
        "{error}"
    );
}

/// Each line that begins with the program, but for those that only show its form.
#[test]
fn what_the_help_shows_works() {
    let help = simulate(&["--help"]).done();
    assert!(help.lines().all(|line| line.chars().count() <= 120));
    let shown = help
        .lines()
        .filter_map(|line| line.strip_prefix("  cargo run -p tollgate-cli --bin simulate -- "));
    let shown: Vec<&str> = shown.collect();
    assert_eq!(shown.len(), 2, "{help}");
    for line in shown {
        let run = simulate(&line.split(' ').collect::<Vec<_>>());
        assert!(
            run.errors.lines().count() == 1 && run.errors.contains(" lines in "),
            "{}",
            run.errors
        );
        let output = run.done();
        assert!(output.contains("refused") || output.contains("limited"), "{output}");
    }
}

#[test]
fn a_sample_for_whoever_says_nothing() {
    let run = simulate(&[]);
    assert!(run.errors.contains("-- --rules FILE --log FILE"), "{}", run.errors);
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
fn whoever_stops_reading_ends_it_quietly() {
    let line = "{\"at_us\":1700000000000000,\"ip\":\"203.0.113.7\"}\n";
    let case = Case::trace(&two_a_minute(), line.repeat(20_000));
    let mut command: Command = case.command();
    let mut program = command.spawn().unwrap();
    let mut answers = BufReader::new(program.stdout.take().unwrap());
    answers.read_line(&mut String::new()).unwrap();
    drop(answers);
    let run = Run::from(program.wait_with_output().unwrap());
    assert_eq!((run.code, &*run.errors), (Some(0), ""));
}
