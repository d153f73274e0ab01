//! A next service that trusts this proxy and the proxies before it finds the same client as this one.

use std::net::SocketAddr;

use proptest::{collection::vec, prelude::*, sample::select};
use tollgate::{KeyError, RuleSet};

use super::{from, sanitize};
use support::{
    header_lines::any_line,
    property::{cases, holds},
};

const FAILURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/sanitize_forwarded/regressions.txt");

/// The trusted proxies.
const PROXIES: [&str; 4] = [
    "\"198.51.100.1\"",
    "\"10.0.0.0/8\", \"fd00::/8\"",
    "\"10.0.0.1\", \"192.0.2.0/24\"",
    "\"0.0.0.0/0\", \"::/0\"",
];

/// Headers that are sent, and one of which only proxies may send.
const NAMES: [&str; 4] = ["x-forwarded-for", "forwarded", "x-plan", "cookie"];

const PEERS: [&str; 7] = [
    "10.0.0.1",
    "::ffff:10.0.0.2",
    "192.0.2.7",
    "203.0.113.9",
    "fd00::1",
    "2001:db8::2",
    "127.0.0.1",
];

/// Rules that count by everything a proxy can report, and trust these proxies.
fn rules(proxies: &str, forwarded: bool, guarded: &str) -> RuleSet {
    let reads = if forwarded { "forwarded" } else { "x-forwarded-for" };
    let rules = RuleSet::parse(&format!(
        r#"
        [[limit]]
        name = "all"
        algorithm = "fixed_window"
        limit = 1
        window = "1m"
        key = ["ip", "header:x-plan", "cookie:session"]
        default = "anonymous"

        [trust]
        proxies = [{proxies}]
        forwarded = "{reads}"
        headers = ["{guarded}"]
        "#
    ));
    rules.unwrap()
}

#[test]
fn the_next_service_finds_the_same_client() {
    let lines = vec((select(&NAMES[..]), any_line()), 0..6);
    let trust = (select(&PROXIES[..]), any::<bool>(), select(&NAMES[..]));
    holds(
        cases(),
        FAILURES,
        &(select(&PEERS[..]), trust, lines),
        async |_, input| {
            let (peer, (proxies, forwarded, guarded), lines) = input;
            let here = rules(proxies, forwarded, guarded);
            let mut request = from(peer, &lines);
            let counted = match here.charges(&request) {
                // Rejected, not forwarded.
                Err(KeyError::Ambiguous { .. }) => return,
                counted => counted.unwrap(),
            };
            sanitize(&here, &mut request);
            // The peer of the next service is this proxy.
            request
                .extensions_mut()
                .insert(SocketAddr::from(([127, 0, 0, 1], 4711)));
            let next = rules(&format!("{proxies}, \"127.0.0.1\""), forwarded, guarded);
            let found = next.charges(&request).unwrap();
            assert_eq!(format!("{counted:?}"), format!("{found:?}"));
        },
    );
}
