//! The playground's command line: help and usage errors.

use std::{net::TcpListener, process::Output};

use support::port::Port;

use crate::playground::program::program;

/// Runs the playground until it exits: exit code, stdout and stderr.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = program().args(arguments).output().unwrap();
    (
        status.code(),
        String::from_utf8(stdout).unwrap(),
        String::from_utf8(stderr).unwrap(),
    )
}

#[test]
fn help_lists_every_option() {
    for asked in [&["--help"][..], &["-h"], &["--store", "memory", "--help"]] {
        let (code, help, stderr) = run(asked);
        assert_eq!((code, &*stderr), (Some(0), ""));
        for option in ["--listen", "--store", "--prefix"] {
            let names_it = |line: &str| line.split(' ').any(|part| part == option);
            assert!(help.lines().any(names_it), "{option}: {help}");
        }
        assert!(help.contains("127.0.0.1:4000"));
    }
}

#[test]
fn invalid_arguments_are_explained() {
    for (given, error) in [
        (&["--port", "1"][..], "unexpected argument '--port' found"),
        (&["redis://127.0.0.1"], "unexpected argument 'redis://127.0.0.1' found"),
        (
            &["--listen"],
            "a value is required for '--listen <ADDR>' but none was supplied",
        ),
        (
            &["--store"],
            "a value is required for '--store <STORE>' but none was supplied",
        ),
        (
            &["--listen=0", "--listen", "1"],
            "the argument '--listen <ADDR>' cannot be used multiple times",
        ),
        (&["--store", "disk"], "--store must be memory or redis://HOST:PORT"),
        (&["--store="], "--store must be memory or redis://HOST:PORT"),
    ] {
        let (code, stdout, stderr) = run(given);
        assert_eq!((code, &*stdout), (Some(2), ""), "{given:?}");
        assert_eq!(stderr.lines().next(), Some(&*format!("error: {error}")), "{given:?}");
    }
    for given in [
        ["--store", "http://127.0.0.1"],
        ["--listen", "nowhere"],
        ["--listen", "70000"],
    ] {
        let (code, stdout, stderr) = run(&given);
        assert_eq!((code, &*stdout), (Some(2), ""), "{given:?}");
        assert!(stderr.starts_with("error: ") && stderr.contains(given[0]), "{stderr}");
    }
}

#[test]
fn a_port_in_use_and_an_unreachable_redis_are_reported() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap();
    let error = format!("error: cannot listen on {at}: the address is in use; choose another with --listen ADDR\n");
    assert_eq!(run(&["--listen", &at.to_string()]), (Some(1), String::new(), error));

    let unused = Port::free();
    let store = format!("--store=redis://:secret@127.0.0.1:{}", unused.number());
    let (code, stdout, stderr) = run(&["--listen=0", &store]);
    assert_eq!((code, &*stdout), (Some(1), ""));
    assert!(stderr.starts_with("error: --store cannot be used: "), "{stderr}");
    assert!(
        stderr.contains(&unused.number().to_string()) && !stderr.contains("secret"),
        "{stderr}"
    );
}
