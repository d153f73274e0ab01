//! Where examples listen.

use std::net::TcpListener;

use support::project::example;

#[test]
fn an_address_in_use_is_told_with_how_to_choose_another() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap().to_string();
    let told = format!("cannot listen on {at} (LISTEN=ADDRESS:PORT says where): ");
    for name in [
        "quickstart",
        "per_route",
        "tiers",
        "custom_key",
        "rules",
        "outcomes",
        "grpc",
        "from_tower_governor",
    ] {
        let output = example(name).env("LISTEN", &at).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{name}: {error}");
        assert!(error.lines().any(|line| line.contains(&told)), "{name}: {error}");
    }
}
