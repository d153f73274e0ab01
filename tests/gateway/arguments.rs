//! The gateway's command line: help, usage errors and the banner.

use std::{io::Write, net::TcpListener, process::Output};

use support::{folder::Folder, port::Port};

use crate::gateway::fixture::{COUNT_ONLY, Gateway, program};

/// Runs the gateway until it exits: exit code, stdout and stderr.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = program().args(arguments).output().unwrap();
    (
        status.code(),
        String::from_utf8(stdout).unwrap(),
        String::from_utf8(stderr).unwrap(),
    )
}

const OPTIONS: [&str; 12] = [
    "--rules",
    "--listen",
    "--upstream",
    "--store",
    "--prefix",
    "--on-store-failure",
    "--store-timeout",
    "--admin",
    "--client-timeout",
    "--upstream-timeout",
    "--log",
    "--no-limits",
];

#[test]
fn help_lists_every_option() {
    for asked in [&["--help"][..], &["-h"], &["--no-limits", "--help"]] {
        let (code, help, stderr) = run(asked);
        assert_eq!((code, &*stderr), (Some(0), ""));
        for option in OPTIONS {
            let names_it = |line: &str| line.split(' ').any(|part| part == option);
            assert!(help.lines().any(names_it), "{option}: {help}");
        }
        for path in ["/healthz", "/metrics", "/limits", "/keys/<limit>/<identity>"] {
            assert!(help.contains(path), "{path}");
        }
        assert!(help.lines().all(|line| line.len() <= 130), "{help}");
    }
}

/// Arguments, and the error.
const INVALID: [(&[&str], &str); 29] = [
    (
        &["--rules"],
        "a value is required for '--rules <FILE>' but none was supplied",
    ),
    (
        &["--no-limits=false"],
        "unexpected value 'false' for '--no-limits' found; no more were expected",
    ),
    (
        &["--listen", "--no-limits"],
        "a value is required for '--listen <ADDR>' but none was supplied",
    ),
    (
        &["--log", "debug", "--log", "info"],
        "the argument '--log <LEVEL>' cannot be used multiple times",
    ),
    (&["--store", "disk"], "--store must be memory or redis://HOST:PORT"),
    (
        &["--on-store-failure", "panic"],
        "invalid value 'panic' for '--on-store-failure <WHAT>'",
    ),
    (&["--log=loud"], "invalid value 'loud' for '--log <LEVEL>'"),
    (
        &["--log", "debug", "--quiet"],
        "the argument '--log <LEVEL>' cannot be used with '--quiet'",
    ),
    (
        &["--client-timeout", "5"],
        "invalid value '5' for '--client-timeout <TIME>': expected a duration, like 30s, 500ms or 5m",
    ),
    (
        &["--client-timeout", "s"],
        "invalid value 's' for '--client-timeout <TIME>': expected a duration, like 30s, 500ms or 5m",
    ),
    (
        &["--upstream-timeout=-1s"],
        "invalid value '-1s' for '--upstream-timeout <TIME>': expected a duration, like 30s, 500ms or 5m",
    ),
    (
        &["--upstream-timeout", "99999999999s"],
        "invalid value '99999999999s' for '--upstream-timeout <TIME>': expected a duration, like 30s, 500ms or 5m",
    ),
    (
        &["--upstream-timeout", "1.5s"],
        "invalid value '1.5s' for '--upstream-timeout <TIME>': expected a duration, like 30s, 500ms or 5m",
    ),
    (
        &["--store-timeout", "0ms"],
        "invalid value '0ms' for '--store-timeout <TIME>': the duration must be greater than zero",
    ),
    (
        &["--client-timeout", ""],
        "invalid value '' for '--client-timeout <TIME>': expected a duration, like 30s, 500ms or 5m",
    ),
    (
        &["--upstream", "localhost:3000"],
        "invalid value 'localhost:3000' for '--upstream <URL>': the URL must begin with http://; expected a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "/"],
        "invalid value '/' for '--upstream <URL>': the URL must begin with http://; expected a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "https://a"],
        "invalid value 'https://a' for '--upstream <URL>': the gateway does not support TLS; expected a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "ftp://a"],
        "invalid value 'ftp://a' for '--upstream <URL>': the URL must begin with http://; expected a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "http://a/b"],
        "invalid value 'http://a/b' for '--upstream <URL>': a path is not supported: requests have their own; expected a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "http://a?b"],
        "invalid value 'http://a?b' for '--upstream <URL>': a path is not supported: requests have their own; expected a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "http://me@a"],
        "invalid value 'http://me@a' for '--upstream <URL>': user information is not supported; expected a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "http://127.0.0.1:70000"],
        "invalid value 'http://127.0.0.1:70000' for '--upstream <URL>': the port must be a number from 1 to 65535; expected a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "http://a:"],
        "invalid value 'http://a:' for '--upstream <URL>': the port must be a number from 1 to 65535; expected a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "http://"],
        "invalid value 'http://' for '--upstream <URL>': not a URL (empty string); expected a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", ""],
        "invalid value '' for '--upstream <URL>': not a URL (empty string); expected a service, like http://127.0.0.1:3000",
    ),
    (
        &["--listen", "99999"],
        "invalid value '99999' for '--listen <ADDR>': expected an address, like 127.0.0.1:8080, or a port (invalid socket address)",
    ),
    (
        &["--admin", "here"],
        "invalid value 'here' for '--admin <ADDR>': expected an address, like 127.0.0.1:8080, or a port (invalid socket address)",
    ),
    (&["rules.toml"], "unexpected argument 'rules.toml' found"),
];

#[test]
fn invalid_arguments_are_explained() {
    for (arguments, error) in INVALID {
        let (code, stdout, stderr) = run(arguments);
        assert_eq!((code, &*stdout), (Some(2), ""), "{arguments:?}");
        assert_eq!(
            stderr.lines().next(),
            Some(&*format!("error: {error}")),
            "{arguments:?}"
        );
        assert!(stderr.ends_with("\nFor more information, try '--help'.\n"), "{stderr}");
    }
}

#[test]
fn an_unknown_option_suggests_a_similar_one() {
    let (code, _, stderr) = run(&["--rule", "x"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("tip: a similar argument exists: '--rules'"), "{stderr}");
}

#[test]
fn an_invalid_redis_url_hides_its_password() {
    let (code, stdout, stderr) = run(&["--store", "redis://me:secret@:no-port"]);
    assert_eq!((code, &*stdout), (Some(2), ""));
    assert!(
        stderr.starts_with("error: --store cannot be used: ") && !stderr.contains("secret"),
        "{stderr}"
    );
}

#[test]
fn an_address_in_use_names_the_option() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let at = format!("error: cannot listen on 127.0.0.1:{port}: the address is in use; choose another with");
    assert_eq!(
        run(&["--listen", &port]),
        (Some(1), String::new(), format!("{at} --listen ADDR\n"))
    );
    let given = ["--listen", "127.0.0.1:0", "--admin", &format!(":{port}")];
    assert_eq!(run(&given), (Some(1), String::new(), format!("{at} --admin ADDR\n")));
}

#[test]
fn invalid_rules_are_reported_with_line_and_column() {
    let folder = Folder::new("wrong-rules");
    let file = folder.file("rules.toml");
    std::fs::write(&file, COUNT_ONLY.replace("\"3650d\"", "60").replace("key", "kye")).unwrap();
    let (code, stdout, stderr) = run(&["--listen", "127.0.0.1:0", "--rules", &file]);
    assert_eq!((code, &*stdout), (Some(1), ""));
    for place in ["rules.toml:6:10\n", "rules.toml:7:1\n"] {
        assert!(stderr.contains(place), "{stderr}");
    }
    let missing = folder.file("missing.toml");
    let (code, stdout, stderr) = run(&["--listen", "127.0.0.1:0", "--rules", &missing]);
    assert_eq!((code, &*stdout), (Some(1), ""));
    assert!(stderr.contains(&missing), "{stderr}");
}

#[tokio::test]
async fn the_built_in_service_echoes_any_request() {
    let gateway = Gateway::start(COUNT_ONLY, &[]);
    let request = gateway.request("BREW".parse().unwrap(), "/any/path?at=all");
    let reply = support::http::Reply::to(request.header("x-mine", "yes").body("12345")).await;
    assert_eq!(reply.status, 200);
    let mut lines = reply.body.lines();
    assert_eq!(lines.next(), Some("BREW /any/path?at=all"));
    assert!(reply.body.contains("\nx-mine: yes\n"), "{}", reply.body);
    assert!(reply.body.ends_with("\n\n5 bytes of body\n"), "{}", reply.body);
}

#[tokio::test]
async fn the_banner_shows_the_configuration() {
    let gateway = Gateway::start(&format!("{COUNT_ONLY}lease = \"100ms\"\n"), &[]);
    let (at, admin, rules) = (gateway.address, gateway.admin, gateway.rules());
    let (_, upstream) = gateway.running.banner.split_once("upstream  http://").unwrap();
    let (upstream, _) = upstream.split_once(',').unwrap();
    let banner = format!(
        "gateway listening on http://{at}
  upstream  http://{upstream}, a built-in echo service
  rules     {rules}, reloaded when it changes
            all: 1000000 per 315360000s, fixed_window, lease 100ms
  store     memory of this process
  admin     http://{admin}

try it:
  curl -i http://{at}/hello
"
    );
    assert_eq!(gateway.running.banner, banner);
}

#[test]
fn the_banner_shows_a_store_that_is_not_redis() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    // The thread ends with the test process.
    std::thread::spawn(move || {
        listener
            .incoming()
            .for_each(|client| drop(client.unwrap().write_all(b"What?\r\n")))
    });
    let gateway = Gateway::start(COUNT_ONLY, &["--store", &format!("redis://{at}")]);
    let store = format!("\n  store     {at}: Redis is unavailable: ");
    assert!(gateway.running.banner.contains(&store), "{}", gateway.running.banner);
}

#[test]
fn the_banner_hides_passwords() {
    let unused = Port::free();
    let redis = format!("127.0.0.1:{}", unused.number());
    let store = format!("redis://me:secret@{redis}");
    let options = ["--store", &store, "--on-store-failure", "closed"];
    let gateway = Gateway::with_upstream("http://127.0.0.1:2", COUNT_ONLY, &options);
    let banner = &gateway.running.banner;
    assert!(banner.contains("\n  upstream  http://127.0.0.1:2\n"), "{banner}");
    assert!(banner.contains(&redis) && !banner.contains("secret"), "{banner}");
    assert!(
        banner.contains("closed: requests are rejected while it fails"),
        "{banner}"
    );
    assert!(!gateway.log().contains("secret"), "{}", gateway.log());
    let gateway = Gateway::start(COUNT_ONLY, &["--no-limits"]);
    assert!(
        gateway
            .running
            .banner
            .contains("only [trust] applies because of --no-limits"),
        "{}",
        gateway.running.banner
    );
}
