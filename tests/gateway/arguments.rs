//! How the gateway is called, and what it says to whoever calls it the wrong way.

use std::{io::Write, net::TcpListener, process::Output};

use support::{folder::Folder, port::Port};

use crate::gateway::{
    fixture::{ANY_NUMBER, Gateway},
    program::program,
};

/// It ends by itself.
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
fn help_tells_of_every_option() {
    for asked in [&["--help"][..], &["-h"], &["--no-limits", "--help"]] {
        let (code, help, wrong) = run(asked);
        assert_eq!((code, &*wrong), (Some(0), ""));
        for option in OPTIONS {
            let names_it = |line: &str| line.split(' ').any(|word| word == option);
            assert!(help.lines().any(names_it), "{option}: {help}");
        }
        for path in ["/healthz", "/metrics", "/limits", "/keys/<limit>/<identity>"] {
            assert!(help.contains(path), "{path}");
        }
        assert!(help.lines().all(|line| line.len() <= 130), "{help}");
    }
}

/// What is said, and what is answered.
const WRONG: [(&[&str], &str); 27] = [
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
        "invalid value '5' for '--client-timeout <TIME>': give a time, like 30s, 500ms or 5m",
    ),
    (
        &["--client-timeout", "s"],
        "invalid value 's' for '--client-timeout <TIME>': give a time, like 30s, 500ms or 5m",
    ),
    (
        &["--upstream-timeout=-1s"],
        "invalid value '-1s' for '--upstream-timeout <TIME>': give a time, like 30s, 500ms or 5m",
    ),
    (
        &["--upstream-timeout", "99999999999s"],
        "invalid value '99999999999s' for '--upstream-timeout <TIME>': give a time, like 30s, 500ms or 5m",
    ),
    (
        &["--upstream-timeout", "1.5s"],
        "invalid value '1.5s' for '--upstream-timeout <TIME>': give a time, like 30s, 500ms or 5m",
    ),
    (
        &["--store-timeout", "0ms"],
        "invalid value '0ms' for '--store-timeout <TIME>': it must be more than nothing",
    ),
    (
        &["--client-timeout", ""],
        "invalid value '' for '--client-timeout <TIME>': give a time, like 30s, 500ms or 5m",
    ),
    (
        &["--upstream", "localhost:3000"],
        "invalid value 'localhost:3000' for '--upstream <URL>': it does not begin with http://: give a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "/"],
        "invalid value '/' for '--upstream <URL>': it does not begin with http://: give a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "https://a"],
        "invalid value 'https://a' for '--upstream <URL>': it is behind TLS, which the gateway does not speak: give a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "ftp://a"],
        "invalid value 'ftp://a' for '--upstream <URL>': it does not begin with http://: give a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "http://a/b"],
        "invalid value 'http://a/b' for '--upstream <URL>': it has a path, and requests bring their own: give a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "http://a?b"],
        "invalid value 'http://a?b' for '--upstream <URL>': it has a path, and requests bring their own: give a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "http://me@a"],
        "invalid value 'http://me@a' for '--upstream <URL>': it has a user in it: give a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", "http://"],
        "invalid value 'http://' for '--upstream <URL>': it is none (empty string): give a service, like http://127.0.0.1:3000",
    ),
    (
        &["--upstream", ""],
        "invalid value '' for '--upstream <URL>': it is none (empty string): give a service, like http://127.0.0.1:3000",
    ),
    (
        &["--listen", "99999"],
        "invalid value '99999' for '--listen <ADDR>': give an address, like 127.0.0.1:8080, or a port (invalid socket address)",
    ),
    (
        &["--admin", "here"],
        "invalid value 'here' for '--admin <ADDR>': give an address, like 127.0.0.1:8080, or a port (invalid socket address)",
    ),
    (&["rules.toml"], "unexpected argument 'rules.toml' found"),
];

#[test]
fn whoever_calls_it_the_wrong_way_is_told_what_to_do() {
    for (arguments, wrong) in WRONG {
        let (code, said, told) = run(arguments);
        assert_eq!((code, &*said), (Some(2), ""), "{arguments:?}");
        assert_eq!(told.lines().next(), Some(&*format!("error: {wrong}")), "{arguments:?}");
        assert!(told.ends_with("\nFor more information, try '--help'.\n"), "{told}");
    }
}

#[test]
fn whoever_names_an_option_that_is_none_is_told_which_is_meant() {
    let (code, _, told) = run(&["--rule", "x"]);
    assert_eq!(code, Some(2));
    assert!(told.contains("tip: a similar argument exists: '--rules'"), "{told}");
}

#[test]
fn a_wrong_address_of_redis_does_not_tell_its_password() {
    let (code, said, wrong) = run(&["--store", "redis://me:secret@:no-port"]);
    assert_eq!((code, &*said), (Some(2), ""));
    assert!(
        wrong.starts_with("error: --store cannot be used: ") && !wrong.contains("secret"),
        "{wrong}"
    );
}

#[test]
fn an_address_in_use_is_told_with_the_option_to_choose_another() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let at = format!("error: cannot listen at 127.0.0.1:{port}, which is in use: choose another with");
    assert_eq!(
        run(&["--listen", &port]),
        (Some(1), String::new(), format!("{at} --listen ADDR\n"))
    );
    let given = ["--listen", "127.0.0.1:0", "--admin", &format!(":{port}")];
    assert_eq!(run(&given), (Some(1), String::new(), format!("{at} --admin ADDR\n")));
}

#[test]
fn wrong_rules_are_told_with_line_and_column() {
    let folder = Folder::new("wrong-rules");
    let file = folder.file("rules.toml");
    std::fs::write(&file, ANY_NUMBER.replace("\"3650d\"", "60").replace("key", "kye")).unwrap();
    let (code, said, wrong) = run(&["--listen", "127.0.0.1:0", "--rules", &file]);
    assert_eq!((code, &*said), (Some(1), ""));
    for place in ["rules.toml:6:10\n", "rules.toml:7:1\n"] {
        assert!(wrong.contains(place), "{wrong}");
    }
    let gone = folder.file("gone.toml");
    let (code, said, wrong) = run(&["--listen", "127.0.0.1:0", "--rules", &gone]);
    assert_eq!((code, &*said), (Some(1), ""));
    assert!(wrong.contains(&gone), "{wrong}");
}

#[tokio::test]
async fn the_service_that_is_built_in_answers_any_path_and_says_what_it_was_sent() {
    let gateway = Gateway::start(ANY_NUMBER, &[]);
    let request = gateway.request("BREW".parse().unwrap(), "/any/path?at=all");
    let reply = support::http::Reply::to(request.header("x-mine", "yes").body("12345")).await;
    assert_eq!(reply.status, 200);
    let mut lines = reply.body.lines();
    assert_eq!(lines.next(), Some("BREW /any/path?at=all"));
    assert!(reply.body.contains("\nx-mine: yes\n"), "{}", reply.body);
    assert!(reply.body.ends_with("\n\n5 bytes of body\n"), "{}", reply.body);
}

#[tokio::test]
async fn the_banner_says_what_is_in_force() {
    let gateway = Gateway::start(ANY_NUMBER, &[]);
    let (at, admin, rules) = (gateway.address, gateway.admin, gateway.rules());
    let (_, upstream) = gateway.running.banner.split_once("upstream  http://").unwrap();
    let (upstream, _) = upstream.split_once(',').unwrap();
    let banner = format!(
        "listening on http://{at}, a gateway to
  upstream  http://{upstream}, which is built in to try
  rules     {rules}, read again whenever it changes
            all: 1000000 per 315360000s, fixed_window
  store     memory, of this gateway alone
  admin     http://{admin}

try it:
  curl -i http://{at}/hello
"
    );
    assert_eq!(gateway.running.banner, banner);
}

#[test]
fn the_banner_names_a_store_that_is_none() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    // It ends with the test.
    std::thread::spawn(move || {
        listener
            .incoming()
            .for_each(|client| drop(client.unwrap().write_all(b"What?\r\n")))
    });
    let gateway = Gateway::start(ANY_NUMBER, &["--store", &format!("redis://{at}")]);
    let store = format!("\n  store     {at}: Redis cannot be asked now: ");
    assert!(gateway.running.banner.contains(&store), "{}", gateway.running.banner);
}

#[test]
fn the_banner_names_the_service_and_the_store_but_no_password() {
    let nobody = Port::free();
    let redis = format!("127.0.0.1:{}", nobody.number());
    let store = format!("redis://me:secret@{redis}");
    let options = ["--store", &store, "--on-store-failure", "closed"];
    let gateway = Gateway::to("http://127.0.0.1:2", ANY_NUMBER, &options);
    let banner = &gateway.running.banner;
    assert!(banner.contains("\n  upstream  http://127.0.0.1:2\n"), "{banner}");
    assert!(banner.contains(&redis) && !banner.contains("secret"), "{banner}");
    assert!(
        banner.contains("closed: requests are refused while it fails"),
        "{banner}"
    );
    assert!(!gateway.log().contains("secret"), "{}", gateway.log());
    let gateway = Gateway::start(ANY_NUMBER, &["--no-limits"]);
    assert!(
        gateway.running.banner.contains("limits nothing: --no-limits"),
        "{}",
        gateway.running.banner
    );
}
