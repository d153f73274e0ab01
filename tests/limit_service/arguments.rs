//! The service's command line: help, usage errors and addresses.

use std::{
    net::{TcpListener, TcpStream},
    process::Stdio,
};

use super::fixture::program;
use crate::server_process::{Running, socket::Socket};

const OPTIONS: [&str; 11] = [
    "--rules",
    "--grpc",
    "--http",
    "--store",
    "--prefix",
    "--on-store-failure",
    "--store-timeout",
    "--admin",
    "--client-timeout",
    "--drain-timeout",
    "--log",
];

/// Runs the service until it exits: exit code, stdout and stderr.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = program().args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn help_lists_every_option_and_endpoint() {
    let (code, help, stderr) = run(&["--help"]);
    assert_eq!((code, &*stderr), (Some(0), ""));
    for option in OPTIONS {
        let names_it = |line: &str| line.split(' ').any(|part| part == option);
        assert!(help.lines().any(names_it), "{option}: {help}");
    }
    for endpoint in [
        "/check",
        "/check?deny=403",
        "/healthz",
        "/metrics",
        "/limits",
        "/keys/<limit>/<identity>",
    ] {
        let names_it = |line: &str| line.split(' ').any(|part| part == endpoint);
        assert!(help.lines().any(names_it), "{endpoint}: {help}");
    }
}

#[test]
fn invalid_arguments_are_explained() {
    for (arguments, error) in [
        (
            &["--http", "here"][..],
            "invalid value 'here' for '--http <ADDR>': expected an address, like 127.0.0.1:8080, or a port (invalid socket address)",
        ),
        (
            &["--grpc", "99999"],
            "invalid value '99999' for '--grpc <ADDR>': expected an address, like 127.0.0.1:8080, or a port (invalid socket address)",
        ),
        (
            &["--drain-timeout", "0s"],
            "invalid value '0s' for '--drain-timeout <TIME>': the duration must be greater than zero",
        ),
        (&["--store", "disk"], "--store must be memory or redis://HOST:PORT"),
        (
            &["--prefix", "mine"],
            "--prefix is for keys in Redis: add --store redis://HOST:PORT",
        ),
        (&["--upstream", "http://a"], "unexpected argument '--upstream' found"),
    ] {
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
fn an_address_in_use_names_the_option() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for option in ["--http", "--grpc", "--admin"] {
        let error = format!(
            "error: cannot listen on 127.0.0.1:{port}: the address is in use; choose another with {option} ADDR\n"
        );
        // The other address is free.
        let free = if option == "--http" { "--grpc" } else { "--http" };
        let arguments = [free, "127.0.0.1:0", option, &port];
        assert_eq!(run(&arguments), (Some(1), String::new(), error));
    }
}

#[test]
fn both_addresses_listen_if_both_are_given() {
    let running = Running::start(program().args(["--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"]));
    for line in ["grpc      ", "http      http://"] {
        let address = running.address(line);
        assert!(TcpStream::connect(address).is_ok(), "{line}{address}");
    }
}

const BOTH_DEFAULTS: &str = "service listening for proxies
  grpc      127.0.0.1:8081, for Envoy
  http      http://127.0.0.1:8082/check, for nginx, Traefik and Caddy
  rules     built-in sample; use your own with --rules FILE
            global: 10000 per 60s, sliding_counter
            client: 100 per 60s, token_bucket
            expensive: 10 per 60s, sliding_log
            tenant: 100 per 60s, sliding_counter, domain edge, descriptor tenant
  store     memory of this process
  admin     disabled; enable it with --admin 9090

try it:
  curl -i -H 'X-Forwarded-Method: GET' -H 'X-Forwarded-Uri: /hello' http://127.0.0.1:8082/check
";

/// Another program may use a default port.
#[tokio::test]
async fn without_arguments_it_listens_at_both_default_addresses_or_reports_one_in_use() {
    let running = match Running::try_start("curl", program().stderr(Stdio::piped())) {
        Ok(running) => running,
        Err((code, error)) => {
            let in_use = [("8081", "--grpc"), ("8082", "--http")].map(|(port, option)| {
                format!("error: cannot listen on 127.0.0.1:{port}: the address is in use; choose another with {option} ADDR\n")
            });
            assert!(code == Some(1) && in_use.contains(&error), "{code:?}: {error}");
            return;
        }
    };
    assert_eq!(running.banner, BOTH_DEFAULTS);
    let mut proxy = Socket::connect_to("127.0.0.1:8082".parse().unwrap()).await;
    proxy
        .send("GET /check HTTP/1.1\r\nhost: a\r\nx-forwarded-method: GET\r\nx-forwarded-uri: /hello\r\n\r\n")
        .await;
    assert_eq!(proxy.response().await, (200, String::new()));
}
