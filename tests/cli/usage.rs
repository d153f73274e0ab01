//! Help, version and usage errors.

use std::fs;

use support::{
    port::Port,
    project::{program, root},
    redis::RedisServer,
};

use super::{RULES, Run, SUBCOMMANDS, folder_with};

#[test]
fn help_lists_the_subcommands_and_the_exit_codes() {
    let folder = folder_with(RULES);
    let help = Run::in_a_pipe(folder.path(), &["--help"]).success();
    for subcommand in SUBCOMMANDS {
        assert!(
            help.lines().any(|line| line.starts_with(&format!("  {subcommand} "))),
            "{subcommand}: {help}"
        );
        let help = Run::in_a_pipe(folder.path(), &[subcommand, "--help"]).success();
        let usage = format!("Usage: tollgate {subcommand} ");
        assert!(help.lines().any(|line| line.starts_with(&usage)), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 130), "{help}");
    }
    for text in ["Exit codes:", "NO_COLOR", "--quiet", "--verbose", "--color"] {
        assert!(help.contains(text), "{text}: {help}");
    }
}

#[test]
fn no_arguments_print_the_help() {
    let folder = folder_with(RULES);
    let run = Run::in_a_pipe(folder.path(), &[]);
    assert_eq!((run.code, &*run.output), (Some(2), ""));
    assert!(
        run.errors.contains("Usage: tollgate [OPTIONS] <COMMAND>"),
        "{}",
        run.errors
    );
}

#[test]
fn the_version_is_that_of_the_package() {
    let folder = folder_with(RULES);
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = "));
    let version = version.unwrap().trim_matches('"');
    let printed = Run::in_a_pipe(folder.path(), &["--version"]).success();
    assert_eq!(printed, format!("tollgate {version}\n"));
}

#[test]
fn usage_errors_are_explained() {
    let folder = folder_with(RULES);
    let store = "redis://127.0.0.1:1";
    for (arguments, text) in [
        (&["gatewy"][..], "unrecognized subcommand 'gatewy'"),
        (&["check"], "the following required arguments were not provided:"),
        (&["check", "--stoer", "x"], "unexpected argument '--stoer' found"),
        (
            &["check", "rules.toml", "--prefix", "x"],
            "the following required arguments were not provided:",
        ),
        (
            &["check", "rules.toml", "--quiet", "--verbose"],
            "the argument '--quiet' cannot be used with '--verbose'",
        ),
        (
            &["check", "rules.toml", "--color", "maybe"],
            "invalid value 'maybe' for '--color <WHEN>'",
        ),
        (
            &["peek", "--rules", "rules.toml", "--store", store],
            "the following required arguments were not provided:",
        ),
        (&["completions", "cmd"], "invalid value 'cmd' for '<SHELL>'"),
        (
            &["man", "gatewy"],
            "there is no subcommand \"gatewy\"; the subcommands are gateway, service, simulate, playground, check, peek, reset, completions, man",
        ),
        (
            &["playground", "--prefix", "mine"],
            "--prefix is for keys in Redis: add --store redis://HOST:PORT",
        ),
        (
            &["gateway", "--store", store, "--prefix", "a b"],
            "--store cannot be used: prefix = \"a b\": it must be 1 to 64 printable ASCII characters other than braces and blanks",
        ),
    ] {
        Run::in_a_pipe(folder.path(), arguments).assert_usage_error(text);
    }
    let run = Run::in_a_pipe(folder.path(), &["gatewy"]);
    assert!(
        run.errors.contains("a similar subcommand exists: 'gateway'"),
        "{}",
        run.errors
    );
}

/// For every subcommand, and a password in any position.
#[test]
fn errors_hide_passwords() {
    let folder = folder_with(RULES);
    let unused = Port::free();
    let unreachable = format!("redis://me:secret@127.0.0.1:{}", unused.number());
    let of_a_key = ["--rules", "rules.toml", "--limit", "all"];
    for store in [
        "redis://me:secret@:no-port",
        "http://me:secret@127.0.0.1",
        "me:secret@127.0.0.1",
        &unreachable,
    ] {
        for arguments in [
            &["gateway", "--listen", "no-port", "--store", store][..],
            &["gateway", "--log", "loud", "--store", store],
            &["service", "--http", "no-port", "--store", store],
            &["simulate", "--store", store],
            &["playground", "--listen", "0", "--store", store],
            &["check", "--store", store],
            &[&["peek", "--store", store], &of_a_key[..]].concat(),
            &[&["reset", "--store", store], &of_a_key[..]].concat(),
        ] {
            let run = Run::in_a_pipe(folder.path(), arguments);
            assert!(matches!(run.code, Some(1 | 2)), "{arguments:?}: {run:?}");
            assert!(run.errors.starts_with("error: "), "{arguments:?}: {run:?}");
            assert!(!format!("{run:?}").contains("secret"), "{arguments:?}: {run:?}");
        }
    }
}

/// Other users can see the arguments of a process, but not its environment.
#[test]
fn the_store_is_taken_from_the_environment() {
    let folder = folder_with(RULES);
    let redis = RedisServer::start_with(&["--requirepass", "secret"]);
    let url = redis.url().replace("redis://", "redis://:secret@");
    let run = |arguments: &[&str]| {
        let mut command = program("tollgate");
        Run::of(
            command
                .args(arguments)
                .env("TOLLGATE_STORE", &url)
                .current_dir(folder.path()),
        )
    };
    let of_a_key = ["--rules", "rules.toml", "--limit", "all"];
    for arguments in [
        &["check"][..],
        &["simulate", "--quiet"],
        &[&["peek"], &of_a_key[..]].concat(),
        &[&["reset"], &of_a_key[..]].concat(),
    ] {
        run(arguments).success();
    }
    // The option has precedence.
    let line = run(&["check", "--store", "redis://127.0.0.1:1"]).failure();
    assert!(line.contains("no connection to Redis at 127.0.0.1:1"), "{line}");
    for subcommand in ["gateway", "service", "simulate", "playground", "check", "peek", "reset"] {
        for help in [
            run(&[subcommand, "--help"]).success(),
            run(&["man", subcommand]).success(),
        ] {
            assert!(help.contains("TOLLGATE_STORE"), "{subcommand}: {help}");
            assert!(!help.contains("secret"), "{subcommand}: {help}");
        }
    }
    let run = run(&["gateway", "--listen", "no-port"]);
    assert!(run.code == Some(2) && !run.errors.contains("secret"), "{}", run.errors);
}

#[test]
fn a_missing_file_is_named_in_one_line() {
    let folder = folder_with(RULES);
    let key = ["--store", "redis://127.0.0.1:1", "--limit", "all"];
    for arguments in [
        &["gateway", "--listen", "0", "--rules", "missing.toml"][..],
        &["service", "--http", "0", "--rules", "missing.toml"],
        &["simulate", "--rules", "missing.toml", "--log", "rules.toml"],
        &["simulate", "--rules", "rules.toml", "--log", "missing.toml"],
        &["check", "missing.toml"],
        &[&["peek", "--rules", "missing.toml"], &key[..]].concat(),
        &[&["reset", "--rules", "missing.toml"], &key[..]].concat(),
    ] {
        let line = Run::in_a_pipe(folder.path(), arguments).failure();
        assert!(line.starts_with("missing.toml: "), "{arguments:?}: {line}");
    }
}

/// The error names the address of Redis.
#[test]
fn an_unreachable_redis_is_named_in_one_line() {
    let folder = folder_with(RULES);
    let unused = Port::free();
    let store = format!("redis://127.0.0.1:{}", unused.number());
    let key = ["--rules", "rules.toml", "--limit", "all"];
    for arguments in [
        &["simulate", "--quiet", "--store", &store][..],
        &["playground", "--listen", "0", "--store", &store],
        &["check", "--store", &store],
        &[&["peek", "--store", &store], &key[..]].concat(),
        &[&["reset", "--store", &store], &key[..]].concat(),
        &[&["peek", "--key", "0123456789abcdef", "--store", &store], &key[..]].concat(),
    ] {
        let line = Run::in_a_pipe(folder.path(), arguments).failure();
        assert!(
            line.contains(&format!("Redis at 127.0.0.1:{}", unused.number())),
            "{arguments:?}: {line}"
        );
    }
}
