//! How the playground is called, and what it says to whoever calls it the wrong way.

use std::{net::TcpListener, process::Output};

use support::port::Port;

use crate::playground::program::program;

/// It ends by itself.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = program().args(arguments).output().unwrap();
    (
        status.code(),
        String::from_utf8(stdout).unwrap(),
        String::from_utf8(stderr).unwrap(),
    )
}

#[test]
fn help_tells_of_every_option() {
    for asked in [&["--help"][..], &["-h"], &["--store", "memory", "--help"]] {
        let (code, help, wrong) = run(asked);
        assert_eq!((code, &*wrong), (Some(0), ""));
        for option in ["--listen", "--store", "--prefix"] {
            let names_it = |line: &str| line.split(' ').any(|word| word == option);
            assert!(help.lines().any(names_it), "{option}: {help}");
        }
        assert!(help.contains("127.0.0.1:4000"));
    }
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    for (given, answer) in [
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
        let (code, said, told) = run(given);
        assert_eq!((code, &*said), (Some(2), ""), "{given:?}");
        assert_eq!(told.lines().next(), Some(&*format!("error: {answer}")), "{given:?}");
    }
    for given in [
        ["--store", "http://127.0.0.1"],
        ["--listen", "nowhere"],
        ["--listen", "70000"],
    ] {
        let (code, said, wrong) = run(&given);
        assert_eq!((code, &*said), (Some(2), ""), "{given:?}");
        assert!(wrong.starts_with("error: ") && wrong.contains(given[0]), "{wrong}");
    }
}

#[test]
fn a_port_in_use_and_a_redis_that_is_not_there_are_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap();
    let told = format!("error: cannot listen at {at}, which is in use: choose another with --listen ADDR\n");
    assert_eq!(run(&["--listen", &at.to_string()]), (Some(1), String::new(), told));

    let nobody = Port::free();
    let store = format!("--store=redis://:secret@127.0.0.1:{}", nobody.number());
    let (code, said, wrong) = run(&["--listen=0", &store]);
    assert_eq!((code, &*said), (Some(1), ""));
    assert!(wrong.starts_with("error: --store cannot be used: "), "{wrong}");
    assert!(
        wrong.contains(&nobody.number().to_string()) && !wrong.contains("secret"),
        "{wrong}"
    );
}
