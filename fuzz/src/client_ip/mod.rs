//! `ClientIp` on any header: a client cannot choose the address that it is counted by.
//!
//! An input is the lines of the header. The first line also defines the elements that proxies append to the others.

mod proxy_chain;
mod resolvers;
#[path = "../../../cli/src/gateway/sanitize.rs"]
#[allow(
    clippy::duplicate_mod,
    reason = "the tests of the gateway include the same file in the same binary"
)]
mod sanitize;

use std::sync::LazyLock;

use http::HeaderValue;
use tollgate::RuleSet;

use self::{
    proxy_chain::{ProxyChain, has_balanced_quotes},
    resolvers::{MAX_HOPS, Resolved, Resolvers, TRUSTED, is_trusted, request_from, with_peer},
    sanitize::sanitize_forwarded,
};

/// The trusted proxy that requests arrive from, and an untrusted peer.
const PROXY: &str = "10.0.0.1";
const OUTSIDER: &str = "203.0.113.200";
/// The address of the service itself, as the next service behind it sees it.
const SERVICE: &str = "127.0.0.1";

const MAX_LINES: usize = 8;

/// Checks the lines of a header, as X-Forwarded-For and as Forwarded.
pub fn client_ip(input: &[u8]) {
    let lines = input.split(|byte| *byte == b'\n').take(MAX_LINES).map(header_value);
    let lines: Vec<HeaderValue> = lines.collect();
    for forwarded in [false, true] {
        hops_and_proxies_agree(forwarded, &lines);
        for first in 1..lines.len() {
            prefix_does_not_change_the_client(forwarded, &lines[..first], &lines[first..]);
        }
        let client_value = lines.last().expect("at least one line");
        let chain = ProxyChain::new(forwarded, lines[0].as_bytes(), client_value);
        chain.resolves_after(&lines[1..]);
        sanitized_header_keeps_the_client(forwarded, &lines);
    }
}

/// A line without the bytes that are invalid in a header.
fn header_value(line: &[u8]) -> HeaderValue {
    let is_valid = |byte: &u8| *byte == b'\t' || !byte.is_ascii_control();
    let line: Vec<u8> = line.iter().copied().filter(is_valid).collect();
    HeaderValue::from_bytes(&line).expect("a header value without control characters")
}

/// Trusting proxies by number and by network resolves the same chain: the first untrusted hop is the client, and a proxy's address
/// is used only if the client is unknown.
fn hops_and_proxies_agree(forwarded: bool, lines: &[HeaderValue]) {
    let resolvers = Resolvers::get(forwarded);
    let request = request_from(PROXY, forwarded, lines);
    let chain: Vec<_> = (0..MAX_HOPS)
        .map_while(|hops| resolvers.by_hops(hops, &request).client())
        .collect();
    let client = chain.iter().find(|hop| !is_trusted(**hop));
    let resolved = resolvers.by_proxies(&request);
    match client {
        Some(client) => assert_eq!(resolved, Resolved::Client(*client)),
        None if chain.len() < MAX_HOPS => assert_eq!(resolved.address(), chain[chain.len() - 1]),
        None => {}
    }
    // With fewer hops than trusted, the request is counted by its peer.
    if chain.len() < MAX_HOPS {
        assert_eq!(
            resolvers.by_hops(chain.len(), &request),
            Resolved::Proxy(PROXY.parse().expect("an address"))
        );
    }
    // The header of an untrusted peer is ignored.
    let resolved = resolvers.by_proxies(&request_from(OUTSIDER, forwarded, lines));
    assert_eq!(resolved, Resolved::Client(OUTSIDER.parse().expect("an address")));
}

/// Lines or elements that a client sends in front of the proxies' do not change the resolved client. If the proxies leave a quote
/// open, the beginning of their elements is ambiguous, so the property does not apply.
fn prefix_does_not_change_the_client(forwarded: bool, prefix: &[HeaderValue], by_proxies: &[HeaderValue]) {
    if !by_proxies.iter().all(has_balanced_quotes) {
        return;
    }
    let resolvers = Resolvers::get(forwarded);
    let alone = request_from(PROXY, forwarded, by_proxies);
    let mut joined = [prefix, by_proxies].concat();
    let on_separate_lines = request_from(PROXY, forwarded, &joined);
    let line = [joined[prefix.len() - 1].as_bytes(), b",", by_proxies[0].as_bytes()].concat();
    joined[prefix.len() - 1] = header_value(&line);
    joined.remove(prefix.len());
    let on_one_line = request_from(PROXY, forwarded, &joined);
    for request in [&on_separate_lines, &on_one_line] {
        let client = resolvers.by_proxies(&alone).client();
        if let Some(client) = client.filter(|client| !is_trusted(*client)) {
            assert_eq!(resolvers.by_proxies(request), Resolved::Client(client));
        }
        for hops in 1..4 {
            if let Some(client) = resolvers.by_hops(hops, &alone).client() {
                assert_eq!(resolvers.by_hops(hops, request), Resolved::Client(client));
            }
        }
    }
}

/// For each header, a service with rules, and the next service, which trusts the first one as well.
static SERVICES: LazyLock<[[RuleSet; 2]; 2]> = LazyLock::new(|| {
    ["x-forwarded-for", "forwarded"].map(|header| {
        let proxies = TRUSTED.map(|proxy| format!("\"{proxy}\"")).join(", ");
        let rules = |proxies: &str| {
            let limit = "name = \"all\"\nalgorithm = \"fixed_window\"\nlimit = 1\nwindow = \"1m\"\nkey = \"ip\"";
            let trust = format!("proxies = [{proxies}]\nforwarded = \"{header}\"");
            RuleSet::parse(&format!("[[limit]]\n{limit}\n[trust]\n{trust}")).expect("valid rules")
        };
        [rules(&proxies), rules(&format!("{proxies}, \"{SERVICE}\""))]
    })
});

/// The next service, which trusts this one, resolves the same client from the sanitized header.
fn sanitized_header_keeps_the_client(forwarded: bool, lines: &[HeaderValue]) {
    let [this, next] = &SERVICES[usize::from(forwarded)];
    let peer = [PROXY, OUTSIDER, "fd00::1"][lines[0].len() % 3];
    let mut request = request_from(peer, forwarded, lines);
    let here = this.charges(&request).expect("the request has an address");
    let peer = peer.parse().expect("an address");
    sanitize_forwarded(request.headers_mut(), Some(peer), &this.trusted_proxies());
    let there = next
        .charges(&with_peer(request, SERVICE))
        .expect("the request has an address");
    assert_eq!(format!("{here:?}"), format!("{there:?}"));
}
