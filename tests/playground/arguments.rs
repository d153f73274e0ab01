//! How the playground is called, and what it says to whoever calls it the wrong way.

use std::{
    net::TcpListener,
    process::{Command, Output},
};

use support::port::Port;

use crate::playground::program::program;

/// It ends by itself.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = Command::new(program()).args(arguments).output().unwrap();
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
        for option in ["--listen", "--store"] {
            assert!(
                help.lines().any(|line| line.starts_with(&format!("  {option} "))),
                "{option}: {help}"
            );
        }
        assert!(help.contains("127.0.0.1:4000"));
        assert!(help.lines().all(|line| line.len() <= 130), "{help}");
    }
}

#[test]
fn what_is_wrong_is_said_with_what_to_do() {
    for (given, answer) in [
        (
            &["--port", "1"][..],
            "there is no option --port: there are --listen, --store and --help",
        ),
        (
            &["redis://127.0.0.1"],
            "there is no option redis://127.0.0.1: there are --listen, --store and --help",
        ),
        (
            &["--listen"],
            "--listen needs an address, like 127.0.0.1:4000, or a port",
        ),
        (&["--store"], "--store needs memory or redis://HOST:PORT"),
        (
            &["--listen=0", "--listen", "1"],
            "--listen is given twice: give it once",
        ),
        (
            &["--store", "disk"],
            "--store needs memory or redis://HOST:PORT, and \"disk\" is neither",
        ),
        (
            &["--store="],
            "--store needs memory or redis://HOST:PORT, and \"\" is neither",
        ),
    ] {
        let told = format!("{answer}\n`--help` tells more\n");
        assert_eq!(run(given), (Some(2), String::new(), told), "{given:?}");
    }
    for given in [
        ["--store", "http://127.0.0.1"],
        ["--listen", "nowhere"],
        ["--listen", "70000"],
    ] {
        let (code, said, wrong) = run(&given);
        assert_eq!((code, &*said), (Some(2), ""), "{given:?}");
        assert!(wrong.starts_with(given[0]), "{wrong}");
    }
}

#[test]
fn a_port_in_use_and_a_redis_that_is_not_there_are_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap();
    let told = format!("cannot listen at {at}, which is in use: choose another with --listen ADDR\n");
    assert_eq!(run(&["--listen", &at.to_string()]), (Some(1), String::new(), told));

    let nobody = Port::free();
    let store = format!("--store=redis://:secret@127.0.0.1:{}", nobody.number());
    let (code, said, wrong) = run(&["--listen=0", &store]);
    assert_eq!((code, &*said), (Some(1), ""));
    assert!(wrong.starts_with("--store cannot be used: "), "{wrong}");
    assert!(
        wrong.contains(&nobody.number().to_string()) && !wrong.contains("secret"),
        "{wrong}"
    );
}
