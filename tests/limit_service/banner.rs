//! The banner.

use super::fixture::{LimitService, limit, program};
use crate::server_process::Running;
use support::{folder::Folder, port::Port};

#[test]
fn it_shows_the_configuration() {
    let service = LimitService::start(&limit("all", 10, "key = 'global'"), &[]);
    let (http, admin, rules) = (service.http, service.admin, service.rules());
    let banner = format!(
        "service listening for proxies
  http      http://{http}/check, for nginx, Traefik and Caddy
  rules     {rules}, reloaded when it changes
            all: 10 per 315360000s, fixed_window
  store     memory of this process
  admin     http://{admin}

try it:
  curl -i -H 'X-Forwarded-Method: GET' -H 'X-Forwarded-Uri: /hello' http://{http}/check
"
    );
    assert_eq!(service.running.banner, banner);
}

#[test]
fn it_names_limits_that_need_more_than_a_check() {
    let rules = [
        "[[limit]]\nname = 'exports'\nalgorithm = 'concurrency'\nlimit = 2\nkey = 'global'\n".to_owned(),
        limit("all", 10, "key = 'global'"),
        "[[limit]]\nname = 'jobs'\nalgorithm = 'leaky_bucket'\nlimit = 2\nwindow = '1m'\nkey = 'global'\n".to_owned(),
    ];
    let service = LimitService::start(&rules.concat(), &[]);
    let banner = &service.running.banner;
    let notes = "
            note: counts only concurrent checks, since the service does not see when a request ends: exports
            note: delays checks, and a proxy that does not wait lets the request pass; set queue = false: jobs
";
    assert!(banner.contains(notes), "{banner}");
}

#[test]
fn it_hides_passwords() {
    let unused = Port::free();
    let store = format!("redis://me:secret@127.0.0.1:{}", unused.number());
    let rules = limit("all", 10, "key = 'global'");
    for (mode, line) in [
        ("open", "open: requests are admitted unchecked while it fails"),
        ("closed", "closed: requests are rejected while it fails"),
        ("local", "local: each process counts in memory while it fails"),
    ] {
        let service = LimitService::start(&rules, &["--store", &store, "--on-store-failure", mode]);
        let (banner, log) = (&service.running.banner, service.log());
        assert!(
            banner.contains(line) && banner.contains("Redis is unavailable: "),
            "{banner}"
        );
        assert!(!banner.contains("secret") && !log.contains("secret"), "{banner}{log}");
    }
}

#[test]
fn with_only_a_grpc_address_there_is_no_http_address() {
    let folder = Folder::new("only-grpc");
    std::fs::write(folder.file("rules.toml"), limit("all", 10, "key = 'global'")).unwrap();
    let mut service = program();
    service.args(["--grpc", "127.0.0.1:0", "--rules", &folder.file("rules.toml")]);
    let running = Running::start_until("  admin ", &mut service);
    let (grpc, rules) = (running.address("grpc      "), folder.file("rules.toml"));
    let banner = format!(
        "service listening for proxies
  grpc      {grpc}, for Envoy
  rules     {rules}, reloaded when it changes
            all: 10 per 315360000s, fixed_window
  store     memory of this process
  admin     disabled; enable it with --admin 9090
"
    );
    assert_eq!(running.banner, banner);
}
